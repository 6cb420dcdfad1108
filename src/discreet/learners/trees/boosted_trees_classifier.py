"""A private classifier by boosted random trees."""

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
from discreet.learners.anova.anova_fit import ResidualPull, SizeEstimate, TargetCounts, TargetStart, class_pull
from discreet.learners.anova.constant_search import ConstantSearch, CountSearch
from discreet.learners.linear.class_weights import WeightedClasses
from discreet.learners.linear.shrunk_residuals import ShrunkResiduals
from discreet.learners.trees.boosted_trees import BoostedTrees
from discreet.questions.gradients.gradients import contrasts
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of

PRIOR = 4.0  # variance of the score of a contrast
RAREST = 0.002  # share of a class, at the start


class BoostedTreesClassifier(ClassifierMixin, BoostedTrees):
    """Boosted trees for classes: the score is a sum of trees whose splits are random, and so cost nothing.

    Splits are drawn by noisy counts of each feature: half of them by width, and half by quantiles. In each
    round the residuals of all records are added up in the leaves of all trees, with noise, and all values are corrected
    together: posterior means, of a prior whose variance is found for each tree, so that trees which happen to split
    what matters stand out. Residuals are shrunk to what all would be if classes were alike, and less where noise is
    small; probabilities take that into account. In fits and in predictions a missing value goes left; a record without
    a listed class counts for nothing.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Public. The classes.

    Guarantee
    ---------
    `event_`: one release of a bounded sum for the counts of all features, one for their products if a delta is paid,
    one for the sizes of classes, and one in each round, composed, for the neighbors and the unit of the data set; add
    or remove one record for arrays. What each asks may follow from those before it. Released: `leaf_values_`,
    `intercept_` and `cuts_`, which follow from these. Random splits: Maddock, Cormode, Wang, Maple and Jha 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (10_000, 3))
    >>> y = (X[:, 0] * X[:, 1] * X[:, 2] > 0).astype(int)
    >>> model = BoostedTreesClassifier(classes=[0, 1], bounds=(-1, 1), epsilon=2.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75)
    True
    """

    purpose: ClassVar[str] = "boosted trees"
    longest: ClassVar[float] = math.sqrt(2)
    classes_: NDArray[Any]

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        max_depth: int | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_iter = max_iter
        self.random_state = random_state
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def target_counts(self, task: Task) -> BoundedSum:
        """The number of records of each class."""
        return contingency_of(task.schema, (str(task.target),), (0,))

    def start(self, task: Task, counts: Array, stddev: float, count: float) -> TargetStart:
        """From the logarithms of the shares of classes, which are closer to one another where noise hides them."""
        shares = WeightedClasses.of(counts, stddev, np.ones(task.classes)).shares
        center = contrasts(task.classes) @ np.log(np.maximum(shares, RAREST))
        return TargetStart(tuple(center.tolist()), 1.0, count, PRIOR, math.sqrt(1 - 1 / task.classes))

    def constant_search(self, task: Task, size: SizeEstimate, target: TargetCounts) -> ConstantSearch:
        """More counts of the classes."""
        return CountSearch(target, partial(self._constant, task))

    def _constant(self, task: Task, counts: Array, stddev: float) -> TargetStart:
        """The scores at which the shares of the classes are predicted: see `predict_proba`."""
        begun = self.start(task, counts, stddev, max(float(counts.sum()), 1.0))
        shares = softmax(contrasts(task.classes).T @ np.array(begun.center))
        return dataclasses.replace(begun, center=tuple(ShrunkResiduals(begun.size).start(shares).tolist()))

    def pull(self, begun: TargetStart, variance: float, size: float) -> ResidualPull:
        """To the same length in all rounds."""
        return class_pull(begun, variance)

    def directions(self, task: Task) -> Array:
        """The score of the second class against the first, or that of each class."""
        basis = contrasts(task.classes)
        return basis.T if task.classes > 2 else (basis[:, 1:] - basis[:, :1]).T

    def _level_of(self, task: Task, begun: TargetStart) -> Array:
        return self.directions(task) @ np.array(begun.center)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        scores = self.scores(X)
        every = np.column_stack([np.zeros(len(scores)), scores]) if len(self.classes_) == 2 else scores
        return ShrunkResiduals(self.residual_).odds(softmax(every, axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[likeliest])
