"""A private smooth ANOVA classifier."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.anova.anova_fit import (
    AnovaFit,
    ResidualPull,
    SizeEstimate,
    TargetCounts,
    TargetStart,
    class_pull,
    joined,
)
from discreet.learners.anova.anova_model import AnovaModel
from discreet.learners.anova.constant_search import ConstantSearch, CountSearch
from discreet.learners.linear.class_weights import WeightedClasses
from discreet.learners.linear.shrunk_residuals import ShrunkResiduals
from discreet.questions.gradients.gradients import contrasts
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.releases.spread import Spread

# From made-up data: benchmarks/tuning_anova.py.
PRIOR = 4.0  # variance of the score of a contrast
RAREST = 0.002  # share of a class, at the start


class AnovaClassifier(ClassifierMixin, AnovaModel):
    """A smooth ANOVA model for classes: the score is a sum of functions of features and of pairs, which can be drawn.

    Noisy counts give the distribution of each feature. Its functions are a line, flat where hardly a record is, and
    waves of the distribution function, so bounds need not be tight; those of a category are marks of its values. In
    each round the residuals of all records, times their features, are added up with noise, and coefficients are
    corrected: posterior means, of a prior whose variance is found for each feature and pair. Residuals are shrunk to
    what all would be if classes were alike, and so are the pulls of records with unusually long features; both are
    taken into account, and nothing is assumed about the rest. A missing value adds nothing, in fits and in predictions;
    a record without a listed class counts for nothing.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Public. The classes.

    Guarantee
    ---------
    `event_`: one release of a bounded sum for the counts of all features, one for products of their functions if a
    delta is paid, one for the sizes of classes, and one in each round, composed, for the neighbors and the unit of the
    data set; add or remove one record for arrays. What each asks may follow from those before it. Released:
    `intercept_`, `shapes_` and what is drawn with them, which follow from these. Functional ANOVA: Stone 1994; Gu 2013.
    Noisy gradients: Song, Chaudhuri and Sarwate 2013.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (10_000, 3))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = AnovaClassifier(classes=[0, 1], bounds=(-1, 1), epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.85), model.term_names[int(model.deviations().argmax())]
    (True, 'x0 and x1')
    """

    purpose: ClassVar[str] = "ANOVA classifier"
    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        interactions: bool | None = None,
        monotonic_cst: Any = None,
        max_iter: int | None = None,
        expected_size: int | None = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.interactions = interactions
        self.monotonic_cst = monotonic_cst
        self.max_iter = max_iter
        self.expected_size = expected_size
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def target_counts(self, task: Task) -> BoundedSum:
        """The number of records of each class."""
        return contingency_of(task.schema, (str(task.target),), (0,))

    def start(self, task: Task, columns: SizeEstimate, counts: Array, stddev: float) -> TargetStart:
        """From the logarithms of the shares of classes, which are closer to one another where noise hides them."""
        own = SizeEstimate(float(counts.sum()), len(counts) * stddev**2)
        count = joined([columns, own]).known(task.data.public_size)
        known = WeightedClasses.of(counts, stddev, np.ones(task.classes))
        return self._start(task, known.shares, count)

    def typical_start(self, task: Task, count: float) -> TargetStart:
        """With classes that are alike."""
        return self._start(task, np.full(task.classes, 1 / task.classes), count)

    def _start(self, task: Task, shares: Array, count: float) -> TargetStart:
        center = contrasts(task.classes) @ np.log(np.maximum(shares, RAREST))
        return TargetStart(tuple(center.tolist()), 1.0, count, PRIOR, self._residual(task.classes))

    def first_pull(self, task: Task, begun: TargetStart) -> ResidualPull:
        """Residuals are shrunk to the length that all would have if classes were alike."""
        return class_pull(begun, 0.0)

    def pull(self, fit: AnovaFit, sizes: Spread | None) -> ResidualPull:
        """To the same length in all rounds."""
        return class_pull(fit.begun, fit.posterior.variance / fit.begun.count)

    def constant_sums(self, task: Task) -> BoundedSum:
        """The number of records of each class."""
        return self.target_counts(task)

    def constant_of(self, task: Task, sums: Array, stddev: float) -> TargetStart:
        """The scores at which the shares of the classes are predicted: see `predict_proba`."""
        begun = self.start(task, SizeEstimate(float(sums.sum()), len(sums) * stddev**2), sums, stddev)
        shares = softmax(contrasts(task.classes).T @ np.array(begun.center))
        center = ShrunkResiduals(self._residual(task.classes)).start(shares)
        return dataclasses.replace(begun, center=tuple(center.tolist()))

    def constant_search(self, task: Task, columns: SizeEstimate, target: TargetCounts) -> ConstantSearch:
        """More counts of the classes."""
        return CountSearch(target, partial(self.constant_of, task))

    def directions(self, task: Task) -> Array:
        """The score of the second class against the first, or that of each class."""
        basis = contrasts(task.classes)
        return basis.T if task.classes > 2 else (basis[:, 1:] - basis[:, :1]).T

    def _residual(self, classes: int) -> float:
        return math.sqrt(1 - 1 / classes)

    def _level_of(self, task: Task, begun: TargetStart) -> Array:
        return self.directions(task) @ np.array(begun.center)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class: where shrunk residuals average 0, odds are p max(1, |p - e| / residual)."""
        scores = self.scores(X)
        p = softmax(np.column_stack([np.zeros(len(scores)), scores]) if len(self.classes_) == 2 else scores, axis=1)
        lengths = np.sqrt(np.maximum(1 - 2 * p + np.square(p).sum(axis=1, keepdims=True), 0.0))
        odds = p * np.maximum(1.0, lengths / self._residual(p.shape[1]))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[likeliest])
