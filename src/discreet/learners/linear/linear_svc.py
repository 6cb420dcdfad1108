"""Private linear support vector machine, from noisy second moments and noisy sums of gradients."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.linear.linear_classifier import LinearClassifier
from discreet.questions.gradients.gradients import margin_gradients_of
from discreet.questions.question import BoundedSum


class LinearSVC(LinearClassifier):
    """Linear support vector classification with the Huber hinge loss, each class against the others.

    Records are centred, scaled and whitened by noisy moments, and shrunk where they are long; one with a missing value,
    or of a class that is not listed, counts for nothing. Of a record, all gradients together have length 1 at most.

    Parameters
    ----------
    target : str, optional
        Public. The column of classes, of `PrivateData`.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    classes : sequence, optional
        Public. The values of the target, at least two; not for `PrivateData`.
    max_iter : int, optional
        Public. How many steps. Their estimates are averaged. By default 8, and 4 where delta is 0: noise of pure
        releases grows with their number, and not with its root.
    epsilon, delta : float
        Public. What one fit costs.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Released. The coefficients of the scores, in the units of the data.
    intercept_ : array of shape (1,) or (n_classes,)
        Released. The intercepts, which are penalised like coefficients.
    n_iter_ : int
        Public. The number of steps.
    classes_ : array of shape (n_classes,)
        Public. The classes.
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

    Guarantee
    ---------
    `event_`: two releases of moments and `max_iter` of gradients, each one bounded sum, composed, for the neighbors and
    the unit of the data set; add or remove one record for arrays. Released: `coef_` and `intercept_`, which follow from
    these. No minimiser is assumed to have been found.
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
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target = target
        self.bounds = bounds
        self.classes = classes
        self.max_iter = max_iter
        self.epsilon = epsilon
        self.delta = delta

    def gradients(self, task: Task, matrix: Array, coefficients: Array) -> BoundedSum:
        """The sum of gradients of the Huber hinge loss."""
        target = str(task.target)
        return margin_gradients_of(task.schema, task.features, target, matrix, coefficients, "huber_hinge", 1.0)

    def directions(self, classes: int) -> Array:
        """The scores themselves."""
        return np.eye(1 if classes == 2 else classes)

    def curvature(self, variance: float, classes: int) -> float:
        """The Huber hinge loss has a second derivative of 1/2 for margins from 0 to 2, and 0 elsewhere.

        About half of the records are taken to lie there. Gradients of several classes are shrunk together, which
        flattens the loss.
        """
        return 0.25 / (1.0 if classes == 2 else float(np.sqrt(classes)))
