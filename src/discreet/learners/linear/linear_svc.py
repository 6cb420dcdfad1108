"""Linear support vector classification, from noisy sums of gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.linear.linear_classifier import LinearClassifier
from discreet.questions.gradients.margin_gradients import weighted_margin_gradients_of
from discreet.questions.question import BoundedSum


@dataclass(frozen=True)
class HuberPull:
    """Residuals of the Huber hinge loss, of which all of a record together have length 1 at most.

    A constant score s is the best one for a share 1 / (2 - |s| / 2) of the class that is on its side, up to |s| = 2.

    Parameters
    ----------
    classes : int
        The number of classes: of more than two, each has a score of its own.

    Examples
    --------
    >>> HuberPull(2).start(np.array([0.75, 0.25]))
    array([-1.33333333])
    """

    classes: int
    longest: ClassVar[float] = 1.0

    def start(self, shares: Array) -> Array:
        """Scores of all records alike, at which the classes have these shares."""
        own = shares[1:] if self.classes == 2 else shares
        return np.asarray(np.sign(own - 0.5) * (4 - 2 / np.maximum(own, 1 - own)))

    def bends(self, scores: Array) -> Array:
        """A second derivative of 1/2 for margins from 0 to 2, and so for the class that is on the side of its score.

        Residuals of several scores are shrunk together, which flattens the loss.
        """
        return np.asarray(self._bent(scores).mean(axis=1))

    def along(self, scores: Array, ways: Array) -> Array:
        """The second derivative of the loss along each of these ways from the scores beside it."""
        return np.asarray((self._bent(scores) * ways**2).sum(axis=1))

    def _bent(self, scores: Array) -> Array:
        """The second derivative by each score."""
        sizes = np.minimum(np.abs(scores), 2.0)
        bent = np.where(sizes < 2.0, 0.5 / (2 - sizes / 2), 0.0)
        return np.asarray(bent / (1.0 if self.classes == 2 else math.sqrt(self.classes)))


class LinearSVC(LinearClassifier):
    """Linear support vector classification with the Huber hinge loss, each class against the others.

    Records are centred, scaled and whitened by noisy moments; one that is long counts less, and one with a missing
    value, or of a class that is not listed, for nothing. Of a record, all gradients together have length 1 at most.

    Attributes
    ----------
    intercept_ : array of shape (1,) or (n_classes,)
        Released. The intercepts.
    n_iter_ : int
        Public. The number of steps.

    Guarantee
    ---------
    `event_`: two releases of moments, one of counts of classes and `max_iter` of gradients, each one bounded sum,
    composed, for the neighbors and the unit of the data set; add or remove one record for arrays. Released: `coef_` and
    `intercept_`, which follow from these. No minimiser is assumed to have been found.
    Noisy gradient descent: Song, Chaudhuri and Sarwate 2013; Bassily, Smith and Thakurta 2014. The loss is the one that
    Chaudhuri, Monteleoni and Sarwate 2011 take from Chapelle 2007, with h = 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = np.where(X @ [2.0, -1.0] > 0, "up", "down")
    >>> model = LinearSVC(bounds=(-1, 1), classes=["down", "up"], epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    purpose: ClassVar[str] = "linear support vector machine"

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        max_iter: int | None = None,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.classes = target, bounds, classes
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.epsilon, self.delta = epsilon, delta

    def gradients(self, task: Task, matrix: Array, coefficients: Array, longest: float, weights: Array) -> BoundedSum:
        """The sum of gradients of the Huber hinge loss."""
        return weighted_margin_gradients_of(
            task.schema, task.features, str(task.target), matrix, coefficients, "huber_hinge", longest, weights
        )

    def directions(self, classes: int) -> Array:
        return np.eye(1 if classes == 2 else classes)

    def pull(self, classes: int, moved: float) -> HuberPull:
        """As long as ever, since the loss needs no link."""
        return HuberPull(classes)
