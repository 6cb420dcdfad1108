"""A private regression by boosted random trees."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr
from sklearn.base import RegressorMixin

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.anova.anova_fit import ResidualPull, SizeEstimate, TargetCounts, TargetStart, joined
from discreet.learners.anova.constant_search import ConstantSearch, MeanSearch
from discreet.learners.linear.target_distribution import TargetDistribution
from discreet.learners.trees.boosted_trees import BoostedTrees
from discreet.questions.columns.column_trees import LEAVES, ColumnTrees, column_trees_of
from discreet.questions.question import BoundedSum
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: `random_boosting` in benchmarks/tuning_trees.py.
PRIOR = 1.5  # variance of scores, in squares of the unit
FAR = 1.0  # standard deviations of residuals, to which they are shrunk
FASTEST, SMALLEST = 4.0, 2.0**-10  # by which a size falls at once, and the least of all
SIZES = np.linspace(0.05, 16.0, 800)  # in standard deviations of residuals


class BoostedTreesRegressor(RegressorMixin, BoostedTrees):
    """Boosted trees for a number: a sum of trees whose splits are random, and so cost nothing.

    Splits are drawn by noisy counts of each feature: half of them by width, and half by quantiles. The model
    starts at the median of the target. In each round the residuals of all records are added up in the leaves of all
    trees, with noise, and all values are corrected together: posterior means, of a prior whose variance is found for
    each tree, so that trees which happen to split what matters stand out. Residuals are shrunk to their standard
    deviation, by noisy sums of their squares, and less where noise is small: so outliers hardly move what is fitted. In
    fits and in predictions a missing value goes left; a record without a target counts for nothing.

    Attributes
    ----------
    target_ends_ : array of shape (2,)
        Public. The bounds of the target.

    Guarantee
    ---------
    `event_`: one release of a bounded sum for the counts of all features, one for their products if a delta is paid,
    one for counts of the target, and one in each round, composed, for the neighbors and the unit of the data set; add
    or remove one record for arrays. What each asks may follow from those before it. Released: `leaf_values_`,
    `intercept_` and `cuts_`, which follow from these. Random splits: Maddock, Cormode, Wang, Maple and Jha 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (10_000, 3))
    >>> y = np.sign(X[:, 0] * X[:, 1] * X[:, 2])
    >>> model = BoostedTreesRegressor(bounds=(-1, 1), target_bounds=(-1, 1), epsilon=2.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    purpose: ClassVar[str] = "boosted trees"
    longest: ClassVar[float] = 8.0  # settled on the sets of tests/learners/twins.py
    target_ends_: Array

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        max_depth: int | None = None,
        max_iter: int | None = None,
        random_state: Any = None,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_iter = max_iter
        self.random_state = random_state
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.epsilon, self.delta = epsilon, delta

    def target_counts(self, task: Task) -> BoundedSum:
        """A tree of the target."""
        return column_trees_of(task.schema, (str(task.target),), self._norm)

    def start(self, task: Task, counts: Array, stddev: float, count: float) -> TargetStart:
        """At the median of the target, in units of how wide it is there."""
        number = task.schema.number(str(task.target))
        trees = ColumnTrees.of(task.schema, (str(task.target),), self._norm)
        noise = stddev * math.sqrt(trees.tree.variance(np.ones(LEAVES)))
        known = TargetDistribution.of(trees.counts(counts)[0], noise, number.lower, number.upper)
        return TargetStart((known.quantile(0.5),), known.spread(0.5), count, PRIOR, FAR)

    def constant_search(self, task: Task, size: SizeEstimate, target: TargetCounts) -> ConstantSearch:
        """Masses between cuts around the mean."""
        trees = ColumnTrees.of(task.schema, (str(task.target),), self._norm)
        known = joined([size, SizeEstimate.of(trees, target.counts, target.stddev)])
        return MeanSearch(task, known, partial(self._constant, task))

    def _constant(self, task: Task, share: float, count: float) -> TargetStart:
        """At this place between the bounds of the target."""
        number = task.schema.number(str(task.target))
        width = number.upper - number.lower
        return TargetStart((number.lower + width * share,), width, count, PRIOR, FAR)

    def pull(self, begun: TargetStart, variance: float, size: float) -> ResidualPull:
        """As if residuals were normal."""
        far = np.array(begun.size)
        return ResidualPull(size, float(2 * ndtr(far) - 1), float(_squares(far)) * size**2, size)

    def resized(self, begun: TargetStart, size: float, square: float) -> float:
        """As far as normal residuals are of which so much is left; no larger than before."""
        own = float(np.interp(-square, -_squares(SIZES), SIZES))
        return float(np.clip(size * begun.size / own, max(size / FASTEST, SMALLEST), size))

    def directions(self, task: Task) -> Array:
        return np.ones((1, 1))

    def _level_of(self, task: Task, begun: TargetStart) -> Array:
        return np.array(begun.center)

    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        number = task.schema.number(str(task.target))
        ends = np.array([number.lower, number.upper], dtype=np.float64)
        return {**super().learn(task, plan, permit), "target_ends_": ends}

    def predict(self, X: Any) -> Array:
        """The number that is expected for each row, between the bounds of the target."""
        return np.asarray(np.clip(self.scores(X)[:, 0], *self.target_ends_))


def _squares(sizes: Array) -> Array:
    """The mean square of normal residuals that are shrunk to these sizes, in squares of each size."""
    density = np.exp(-(sizes**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray((2 * ndtr(sizes) - 1 - 2 * sizes * density) / sizes**2 + 2 * ndtr(-sizes))
