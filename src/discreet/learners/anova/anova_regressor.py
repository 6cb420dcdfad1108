"""A private smooth ANOVA regression, for means, quantiles and counts."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import ndtri
from sklearn.base import RegressorMixin

from discreet.core.checks import check_one_of, check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.anova.anova_fit import AnovaFit, ResidualPull, SizeEstimate, TargetCounts, TargetStart, joined
from discreet.learners.anova.anova_model import AnovaModel
from discreet.learners.anova.constant_search import ConstantSearch, CountSearch, MeanSearch
from discreet.learners.anova.smooth_bases import distribution, quantile_of
from discreet.questions.columns.column_trees import LEAVES, ColumnTrees, column_trees_of
from discreet.questions.columns.moments import moments_of
from discreet.questions.gradients.anova_gradients import anova_residuals_of, residual_sizes
from discreet.questions.gradients.anova_scores import Loss
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.releases.joint_plan import Stage, StagedPlan
from discreet.releases.spread import Spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: benchmarks/tuning_anova.py.
START = 0.04  # share of the budget for the target alone, and for the sizes of residuals
PRIOR = {"squared": 1.5, "quantile": 1.5, "poisson": 1.0, "gamma": 1.0}  # variance of scores
INSIDE = {"squared": 0.85, "quantile": 0.4, "poisson": 0.95, "gamma": 0.95}  # share of residuals of at most a size
SQUARE = {"squared": 0.5, "poisson": 0.25, "gamma": 0.25}  # mean square of shrunk residuals, in squares of that size
NEAR = 0.6  # the share of residuals by whose size that of the share INSIDE is computed at first, as if they were normal
ANYWHERE = 16.0  # the share of records that may be anywhere between the bounds, in squares of the noise on a share
DOUBT = 0.5  # of these, by which more may be near the center: a unit that is too small does less harm
COARSE = 16  # cells of the target, where nothing but a quantile is asked
SIZES = 3  # rounds, from the second on, before which the sizes of residuals are asked
FASTEST = 4.0  # by which a size falls at once


class AnovaRegressor(RegressorMixin, AnovaModel):
    """A smooth ANOVA model for a number: a sum of functions of features and of pairs, which can be drawn.

    Noisy counts give the distribution of each feature and of the target. Functions are a line, flat where hardly a
    record is, and waves of distribution functions, so bounds need not be tight; those of a category are marks of its
    values. The model starts at the median of the target. In each round the residuals of all records, times their
    features, are added up with noise, and coefficients are corrected: posterior means, of a prior whose variance is
    found for each feature and pair. Residuals are shrunk to a size that noisy counts of them give, and so are the pulls
    of records with unusually long features: so what is fitted is a mean that outliers hardly move. A missing value adds
    nothing, in fits and in predictions; a record without a target counts for nothing.

    Parameters
    ----------
    loss : {"squared", "quantile", "poisson", "gamma"}
        Public. What is fitted: the mean, a quantile, or, by the logarithm of the mean, counts and positive numbers.
    quantile : float
        Public. The level of the quantile, from 0.01 to 0.99, for that loss.

    Attributes
    ----------
    target_ends_ : array of shape (2,)
        Public. The bounds of the target.

    Guarantee
    ---------
    `event_`: one release of a bounded sum for the counts of all features, one for products of their functions if a
    delta is paid, one for counts of the target, up to three for sizes of residuals, and one in each round, composed,
    for the neighbors and the unit of the data set; add or remove one record for arrays. What each asks may follow from
    those before it. Released: `intercept_`, `shapes_` and what is drawn with them, which follow from these. Functional
    ANOVA: Stone 1994; Gu 2013. Noisy gradients: Song, Chaudhuri and Sarwate 2013.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (10_000, 3))
    >>> y = X[:, 0] ** 2 + X[:, 1] * X[:, 2]
    >>> model = AnovaRegressor(bounds=(-10, 10), target_bounds=(-5, 5), epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "ANOVA regression"
    start_share: ClassVar[float] = START
    target_ends_: Array

    def __init__(
        self,
        *,
        loss: Literal["squared", "quantile", "poisson", "gamma"] = "squared",
        quantile: float = 0.5,
        interactions: bool | None = None,
        monotonic_cst: Any = None,
        max_iter: int | None = None,
        expected_size: int | None = None,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.interactions = interactions
        self.monotonic_cst = monotonic_cst
        self.max_iter = max_iter
        self.expected_size = expected_size
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        super().check()
        check_one_of(self.purpose, "loss", self.loss, tuple(INSIDE))
        check_positive(self.purpose, "quantile", self.quantile, 0.01, 0.99)

    @property
    def kind(self) -> Loss:
        return self.loss

    @property
    def level(self) -> float:
        return float(self.quantile)

    @property
    def _logarithmic(self) -> bool:
        return self.loss in ("poisson", "gamma")

    def plan(self, task: Task) -> StagedPlan:
        number = task.schema.number(str(task.target))
        if self._logarithmic and number.lower < 0:
            obstacle = f"the loss is {self.loss}, and the target may be {number.lower:g}"
            raise ParameterError(self.purpose, obstacle, "Give bounds of the target from 0 on, or another loss.")
        return super().plan(task)

    def target_counts(self, task: Task) -> BoundedSum:
        """A tree of the target."""
        return column_trees_of(task.schema, (str(task.target),), self._norm)

    def size_stages(self, task: Task) -> list[Stage]:
        """The sizes of residuals, before the second round and some more."""
        form, times = self._form(task), min(SIZES, self._rounds() - 1)
        asked: dict[str, Any] = {
            **form.given,
            "coefficients": np.zeros((1, form.size)),
            "loss": self.kind,
            "center": (0.0,),
            "unit": 1.0,
        }
        sizes = anova_residuals_of(task.schema, task.features, str(task.target), **asked)
        return [Stage(sizes, START, times)] if times else []

    def start(self, task: Task, columns: SizeEstimate, counts: Array, stddev: float) -> TargetStart:
        """At the median of the target, a quantile or the mean, with a unit that residuals are as large as."""
        trees = ColumnTrees.of(task.schema, (str(task.target),), self._norm)
        count = joined([columns, SizeEstimate.of(trees, counts, stddev)]).known(task.data.public_size)
        number, counted = task.schema.number(str(task.target)), trees.counts(counts)[0]
        width = (number.upper - number.lower) / LEAVES
        noise = stddev * math.sqrt(trees.tree.variance(np.where(np.arange(LEAVES) < LEAVES // 2, 1.0, 0.0)))
        center = self._center(counted, ANYWHERE * noise**2 / count)
        near = _near(counted, center, NEAR - DOUBT * noise / count)
        middle = number.lower + width * center
        unit = max(middle, width) if self._logarithmic else width * near * _farther(0.85)
        size = width * near * _farther(INSIDE[self.loss]) / unit
        return TargetStart((0.0 if self._logarithmic else middle,), unit, count, PRIOR[self.loss], min(size, 2.0**8))

    def _center(self, counted: Array, anywhere: float) -> float:
        """The place among the leaves where all predictions start, where so many records may be anywhere."""
        if self._logarithmic:
            return float((np.arange(LEAVES) + 0.5) @ np.diff(distribution(counted), prepend=0.0))
        return quantile_of(distribution(counted, 1.0 + anywhere), self.level if self.loss == "quantile" else 0.5)

    def pull(self, fit: AnovaFit, sizes: Spread | None) -> ResidualPull:
        """Residuals are shrunk to the size that the share INSIDE has; it does not grow from round to round."""
        size = fit.size
        if sizes is not None and 0 < fit.turns <= SIZES:
            beyond = np.cumsum(fit.sizes(sizes)[::-1])  # of this size or larger, from the largest on
            noise = sizes.stddev * np.sqrt(np.arange(1, len(beyond) + 1))
            over = np.flatnonzero(beyond + noise > (1 - INSIDE[self.loss]) * fit.begun.count)
            found = float(residual_sizes()[::-1][over[0] if len(over) else -1])
            size = float(np.clip(found, size / FASTEST, size))
        return self._pulled(size)

    def first_pull(self, task: Task, begun: TargetStart) -> ResidualPull:
        return self._pulled(begun.size)

    def _pulled(self, size: float) -> ResidualPull:
        """How residuals of this size pull."""
        inside = INSIDE[self.loss]
        if self.loss == "quantile":
            return ResidualPull(
                max(self.level, 1 - self.level), inside / (2 * size), self.level * (1 - self.level), size
            )
        return ResidualPull(size, inside, SQUARE[self.loss] * size**2, size)

    def typical_start(self, task: Task, count: float) -> TargetStart:
        """In the middle of the bounds of the target."""
        return self._start(task, 0.5, count)

    def _start(self, task: Task, share: float, count: float) -> TargetStart:
        """At this place between the bounds of the target, where residuals may be as large as half of what is between.

        By logarithms, as large as the target is there.
        """
        number = task.schema.number(str(task.target))
        width, place = number.upper - number.lower, min(max(share, 0.0), 1.0)
        middle, size = number.lower + width * place, _farther(INSIDE[self.loss]) / _farther(0.85)
        if self._logarithmic:
            return TargetStart((0.0,), max(middle, width / LEAVES), count, PRIOR[self.loss], size)
        return TargetStart((middle,), width / 2, count, PRIOR[self.loss], size)

    def constant_sums(self, task: Task) -> BoundedSum:
        """Coarse counts of the target for a quantile; what a mean is made of for others."""
        if self.loss == "quantile":
            return contingency_of(task.schema, (str(task.target),), (COARSE,))
        return moments_of(task.schema, str(task.target), 1, task.data.public_size is not None)

    def constant_of(self, task: Task, sums: Array, stddev: float) -> TargetStart:
        """The quantile or the mean."""
        size = task.data.public_size
        count = max(float(sums.sum()), 1.0) if size is None else max(float(size), 1.0)
        if self.loss != "quantile":
            return self._start(task, float(sums[-1]) / count, count)
        return self._start(task, quantile_of(distribution(sums), self.level) / COARSE, count)

    def constant_search(self, task: Task, columns: SizeEstimate, target: TargetCounts) -> ConstantSearch:
        """Coarse counts of the target for a quantile; for others, masses between cuts around the mean."""
        if self.loss == "quantile":
            return CountSearch(TargetCounts(task, self.constant_sums(task)), partial(self.constant_of, task))
        trees = ColumnTrees.of(task.schema, (str(task.target),), self._norm)
        count = joined([columns, SizeEstimate.of(trees, target.counts, target.stddev)])
        return MeanSearch(task, count, partial(self._start, task))

    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        number = task.schema.number(str(task.target))
        ends = np.array([number.lower, number.upper], dtype=np.float64)
        return {**super().learn(task, plan, permit), "target_ends_": ends}

    def directions(self, task: Task) -> Array:
        return np.ones((1, 1))

    def _unit(self, begun: TargetStart) -> float:
        return 1.0 if self._logarithmic else begun.unit

    def _level_of(self, task: Task, begun: TargetStart) -> Array:
        return np.array([math.log(begun.unit)] if self._logarithmic else begun.center)

    def predict(self, X: Any) -> Array:
        """The mean or the quantile that is expected for each row, between the bounds of the target."""
        scores = self.scores(X)[:, 0]
        found = np.exp(np.clip(scores, -700.0, 700.0)) if self._logarithmic else scores
        return np.asarray(np.clip(found, *self.target_ends_))


def _near(counted: Array, center: float, share: float) -> float:
    """How far from the center this share of records is, in leaves; at least one."""
    shares, away = np.diff(distribution(counted), prepend=0.0), np.abs(np.arange(LEAVES) + 0.5 - center)
    order = np.argsort(away, kind="stable")
    return max(float(away[order][np.searchsorted(np.cumsum(shares[order]), share)]), 1.0)


def _farther(share: float) -> float:
    """How much larger the size of this share of normal residuals is than that of the share `NEAR`."""
    return float(ndtri((1 + share) / 2) / ndtri((1 + NEAR) / 2))
