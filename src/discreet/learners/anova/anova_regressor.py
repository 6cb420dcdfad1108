"""A private smooth ANOVA regression, for means, quantiles and counts."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.anova.anova_fit import AnovaFit, Count, Pull, Start, joined
from discreet.learners.anova.anova_model import START, AnovaModel
from discreet.learners.anova.smooth_bases import distribution, quantile_of
from discreet.questions.columns.column_trees import LEAVES, ColumnTrees, column_trees_of
from discreet.questions.gradients.anova_gradients import anova_residuals_of, residual_sizes
from discreet.questions.gradients.anova_scores import Loss
from discreet.releases.joint_plan import Stage
from discreet.releases.spread import Spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: benchmarks/tuning_anova.py.
PRIOR = 1.5  # variance of scores, in squares of the size that the share INSIDE of all residuals has at first
INSIDE = 0.85  # the share of residuals that are not shrunk
NEAR, FARTHER = 0.6, 1.7  # the same at first: what holds that share, and how much farther it is to INSIDE, if normal
SIZES = 3  # rounds, from the second on, before which the sizes of residuals are asked
SPREAD = 0.5  # the mean square of shrunk residuals, in squares of what they are shrunk to


class AnovaRegressor(RegressorMixin, AnovaModel):
    """Numbers."""

    purpose: ClassVar[str] = "ANOVA regression"
    target_ends_: Array

    def __init__(
        self,
        *,
        loss: Literal["squared", "quantile", "poisson", "gamma"] = "squared",
        quantile: float = 0.5,
        interactions: bool | None = None,
        monotonic_cst: Any = None,
        max_iter: int | None = None,
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
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.epsilon, self.delta = epsilon, delta

    @property
    def kind(self) -> Loss:
        return self.loss

    @property
    def level(self) -> float:
        return float(self.quantile)

    def start_stages(self, task: Task) -> list[Stage]:
        """A tree of the target, and the sizes of residuals from the second round on."""
        form = self._form(task)
        zeros = np.zeros((1, form.size))
        sizes = anova_residuals_of(
            task.schema,
            task.features,
            str(task.target),
            **form.given,
            coefficients=zeros,
            loss=self.kind,
            center=(0.0,),
            unit=1.0,
        )
        tree = Stage(column_trees_of(task.schema, (str(task.target),), self._norm), START)
        times = min(SIZES, self._rounds() - 1)
        return [tree, Stage(sizes, START, times)] if times else [tree]

    def start(self, task: Task, columns: Count, spreads: list[Spread], permit: Permit) -> Start:
        """At the median of the target; a unit holds the share INSIDE of the residuals then."""
        name = (str(task.target),)
        released = permit.ask(column_trees_of(task.schema, name, self._norm), spreads[0].noise)
        trees = ColumnTrees.of(task.schema, name, self._norm)
        count = joined([columns, Count.of(trees, released, spreads[0].stddev)]).known(task.data.public_size)
        number, function = task.schema.number(name[0]), distribution(trees.counts(released)[0])
        width = (number.upper - number.lower) / LEAVES
        center = quantile_of(function, 0.5)
        away = np.abs(np.arange(LEAVES) + 0.5 - center)
        order, shares = np.argsort(away, kind="stable"), np.diff(function, prepend=0.0)
        place = min(int(np.searchsorted(np.cumsum(shares[order]), NEAR)), LEAVES - 1)
        unit = max(FARTHER * away[order][place], 1.0)
        return Start((number.lower + width * center,), width * unit, count, PRIOR)

    def pull(self, fit: AnovaFit, sizes: Spread) -> Pull:
        """Residuals are shrunk to the size that the share INSIDE has, or to that of the round before."""
        residual = 1.0 if fit.last is None else fit.last.residual
        if 0 < fit.turns <= SIZES:
            beyond = np.cumsum(fit.sizes(sizes)[::-1])  # of this size or larger, from the largest on
            noise = sizes.stddev * np.sqrt(np.arange(1, len(beyond) + 1))
            over = np.flatnonzero(beyond + noise > (1 - INSIDE) * fit.begun.count)
            found = float(residual_sizes()[::-1][over[0] if len(over) else -1])
            residual = float(np.clip(found, residual / 4, residual))
        return Pull(residual, INSIDE, SPREAD * residual**2)

    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        number = task.schema.number(str(task.target))
        ends = np.array([number.lower, number.upper], dtype=np.float64)
        return {**super().learn(task, plan, permit), "target_ends_": ends}

    def directions(self, task: Task) -> Array:
        return np.ones((1, 1))

    def _unit(self, begun: Start) -> float:
        return begun.unit

    def _level_of(self, task: Task, begun: Start) -> Array:
        return np.array(begun.center)

    def predict(self, X: Any) -> Array:
        """The number that is expected for each row, between the bounds of the target."""
        return np.asarray(np.clip(self.scores(X)[:, 0], *self.target_ends_))
