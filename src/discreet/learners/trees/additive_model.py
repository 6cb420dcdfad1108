"""What additive models have in common: a shape for each feature, found by cyclic rounds of noisy gradients."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.core.bound import Norm
from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.questions.columns.column_cells import cells_of, column_cells_of, edges_of
from discreet.questions.gradients.shape_gradients import STEEPEST, Loss, shape_gradients_of
from discreet.questions.question import BoundedSum
from discreet.releases.drawing import drawn_on
from discreet.releases.joint_plan import Stage, StagedPlan, staged
from discreet.releases.spread import Spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From made-up data: `additive` in benchmarks/tuning_trees.py.
CELLS = 16
COUNTS = 0.1  # share of the budget for the histograms of all features
ROUNDS, PURE_ROUNDS = 6, 2  # with Gaussian noise and with Laplace noise
SMOOTH = 1.0  # the distance, in widths of a feature, at which shapes are correlated by 1/e before anything is known
EVEN = 0.3  # the same of histograms
SPARSE = 0.02  # records in a cell, in units of the mean


class AdditiveModel(PrivateEstimator):
    """Scores that are sums of one function of each feature, which is constant in each of its cells.

    Parameters
    ----------
    bins : int
        Public. The number of cells of each feature.

    Attributes
    ----------
    shapes_ : array of shape (n_scores, n_features, bins)
        Released. What each cell of each feature adds to the prediction; on average over the records, nothing.
    intercept_ : array of shape (n_scores,)
        Released. What all records have.
    cell_counts_ : array of shape (n_features, bins)
        Released. About how many records are in each cell.
    edges_ : array of shape (n_features, bins + 1)
        Public. The edges of the cells.
    n_iter_ : int
        Public. The number of rounds.
    """

    supervised: ClassVar[bool] = True
    loss: ClassVar[Loss]
    bins: int | None
    scatter: ClassVar[float] = 0.0  # the variance of a residual, which no shape explains
    shapes_: Array
    intercept_: Array
    cell_counts_: Array
    edges_: Array
    n_iter_: int

    @abstractmethod
    def outputs(self, task: Task) -> int:
        """The number of scores."""

    @abstractmethod
    def residual(self, outputs: int) -> float:
        """The length that residuals are shrunk to."""

    @abstractmethod
    def curvature(self, variance: float, outputs: int) -> float:
        """The mean second derivative of the loss, if scores have this variance."""

    @abstractmethod
    def prior(self, outputs: int) -> float:
        """The variance of scores that is expected before anything is known."""

    def cells(self) -> int:
        """The number of cells of each feature."""
        return CELLS if self.bins is None else int(self.bins)

    def rounds(self) -> int:
        """The number of rounds."""
        usual = ROUNDS if self.delta > 0 else PURE_ROUNDS
        return usual if self.max_iter is None else self.max_iter

    def check(self) -> None:
        if self.bins is not None:
            check_whole(self.purpose, "bins", self.bins, least=2, most=2**8)
        check_whole(self.purpose, "max_iter", self.rounds())

    def plan(self, task: Task) -> StagedPlan:
        """All histograms; then `max_iter` times the sum of residuals, and those in the cells of each feature."""
        d, outputs = len(task.features), self.outputs(task)
        start = np.zeros((outputs, d * self.cells()))
        stages = (
            Stage(self._cells(task), COUNTS),
            Stage(self._gradients(task, start, 0), 1 - COUNTS, (d + 1) * self.rounds()),
        )
        return staged(task.data, stages, task.budget)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Smooth the histograms, find the shapes, and centre them."""
        d, bins = len(task.features), self.cells()
        rough, steps = plan.spreads
        noisy = permit.ask(self._cells(task), rough.noise)
        counts = _smoothed(noisy.reshape(d, bins), rough.stddev, task.data.public_size)
        found = self._descended(task, counts, steps, permit)
        return {
            **found,
            "cell_counts_": counts,
            "edges_": edges_of(task.schema, task.features, bins),
            "n_iter_": self.rounds(),
        }

    def _descended(self, task: Task, counts: Array, steps: Spread, permit: Permit) -> Artefact:
        """The intercepts, and the shapes of one feature after the other, round after round.

        Noisy residuals say how far a shape is off, were all else right. Its posterior mean, if shapes are Gaussian
        processes, the noise is that of all rounds together, and residuals have `scatter` of their own, is an estimate
        of it; were their mean over the records 0, what dense cells say would move sparse ones the other way, as far as
        it takes. Shapes are centred at the end. The shape is the mean of its estimates, weighted by the squares of
        their rounds, so that noise does not add up.
        """
        outputs, (d, bins), rounds = self.outputs(task), counts.shape, self.rounds()
        shapes, intercept = Mean(np.zeros((outputs, d, bins))), Mean(np.zeros((outputs, 1)))
        noise, prior = steps.stddev**2 / rounds, self.prior(outputs)
        for turn in range(1, rounds + 1):
            for place in (d, *range(d)):
                heights = (shapes.value + intercept.value[:, :, None] / d).reshape(outputs, -1)
                away = permit.ask(self._gradients(task, heights, place), steps.noise).reshape(outputs, -1)
                bend = self.curvature(_variance(shapes.value, counts), outputs)
                if place == d:
                    weight, expected = bend * counts[:1].sum(axis=1), np.array([[prior]])
                    gain = _gain(expected, weight, noise + self.scatter * weight)
                    intercept.add(away, turn, slice(None), gain, weight)
                else:
                    weight, expected = bend * counts[place], _smooth(prior / d, bins)
                    gain = _gain(expected, weight, noise + self.scatter * weight)
                    shapes.add(away, turn, (slice(None), place), gain, weight)
        shares = counts / counts.sum(axis=1, keepdims=True)
        means = (shapes.value * shares).sum(axis=2, keepdims=True)
        return {"shapes_": shapes.value - means, "intercept_": (intercept.value + means.sum(axis=1))[:, 0]}

    def scores(self, X: Any) -> Array:
        """The scores of each row, of shape (n, outputs); a missing value adds nothing."""
        rows = self._rows(X)
        cells = cells_of(self.edges_, np.nan_to_num(rows, nan=0.0))
        scores = np.tile(self.intercept_, (len(rows), 1))
        flat = self.shapes_.reshape(len(self.shapes_), -1)
        for own, values in zip(cells, rows.T, strict=True):
            scores += np.where(np.isnan(values), 0.0, flat[:, own]).T
        return scores

    def plot(self, ax: Axes | None = None, feature: int | None = None) -> Axes:
        """Draw what a feature adds to the scores, or how much each does: the deviation of its shape over the records.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        feature : int, optional
            The place of a feature; all where none is given.
        """
        axes = drawn_on("an additive model", ax)
        names = list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)]))
        if feature is None:
            spreads = _spreads(self.shapes_, self.cell_counts_)
            axes.barh(np.arange(len(names)), spreads)
            axes.set_yticks(np.arange(len(names)), names)
            axes.invert_yaxis()
            axes.set_xlabel("deviation of what it adds")
            return axes
        for own, name in zip(self.shapes_[:, feature], self._said(), strict=True):
            axes.stairs(own, self.edges_[feature], label=name, baseline=None)
        axes.set_xlabel(str(names[feature]))
        axes.set_ylabel("added to the score")
        if len(self.shapes_) > 1:
            axes.legend()
        return axes

    @abstractmethod
    def _said(self) -> list[str]:
        """The names of the scores."""

    def _cells(self, task: Task) -> BoundedSum:
        return column_cells_of(task.schema, task.features, self.cells(), "l2" if self.delta > 0 else "l1")

    def _gradients(self, task: Task, shapes: Array, feature: int) -> BoundedSum:
        """In l1 where there is one score: a record adds to one cell, so no norm of it is longer than another."""
        schema, target, bins, residual = task.schema, str(task.target), self.cells(), self.residual(len(shapes))
        norm: Norm = "l1" if len(shapes) == 1 or self.delta == 0 else "l2"
        return shape_gradients_of(schema, task.features, target, bins, shapes, feature, self.loss, residual, norm)


@unheld("releases")
class Mean:
    """The mean of estimates that each correct the one before, weighted by the squares of their rounds."""

    def __init__(self, start: Array) -> None:
        self.value, self._sums = start, np.zeros_like(start)

    def add(self, away: Array, turn: int, place: Any, gain: Array, weight: Array) -> None:
        """Another estimate of one part, from what its residuals are in cells of these weights."""
        self._sums[place] += turn**2 * (away + weight * self.value[place]) @ gain.T
        mean = self._sums[place] / sum(k**2 for k in range(1, turn + 1))
        self.value[place] = np.clip(mean, -STEEPEST, STEEPEST)


def _gain(expected: Array, weight: Array, noise: Array) -> Array:
    """What makes a posterior mean of residuals in cells of these weights, with noise of these variances."""
    return (expected * weight) @ np.linalg.inv(weight[:, None] * expected * weight + np.diag(noise))


def _smooth(variance: float, bins: int) -> Array:
    """The covariance of a smooth shape."""
    places = (np.arange(bins) + 0.5) / bins
    return np.asarray(variance * np.exp(-np.abs(places[:, None] - places) / SMOOTH))


def _smoothed(noisy: Array, stddev: float, n: int | None) -> Array:
    """Histograms from noisy ones: their posterior mean, if they are Gaussian processes around an even one."""
    bins = noisy.shape[1]
    mean = max(float(noisy.sum() / len(noisy)) if n is None else n, 1.0) / bins
    places = (np.arange(bins) + 0.5) / bins
    expected = mean**2 * np.exp(-np.abs(places[:, None] - places) / EVEN)
    kept = np.linalg.solve(expected + stddev**2 * np.eye(bins), expected)
    counts = np.maximum(mean + (noisy - mean) @ kept, SPARSE * mean)
    return np.asarray(counts * (mean * bins / counts.sum(axis=1, keepdims=True)))


def _spreads(shapes: Array, counts: Array) -> Array:
    """The deviation of what each feature adds, over the records and over the scores."""
    weights = counts / counts.sum(axis=1, keepdims=True)
    centred = shapes - (shapes * weights).sum(axis=-1, keepdims=True)
    return np.sqrt((np.square(centred) * weights).sum(axis=-1).mean(axis=0))


def _variance(shapes: Array, counts: Array) -> float:
    """The variance of scores, were the features independent."""
    return math.fsum(np.square(_spreads(shapes, counts)))
