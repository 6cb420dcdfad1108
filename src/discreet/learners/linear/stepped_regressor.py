"""Linear models of a number by Newton's steps on noisy sums of gradients of any loss."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.fitting.scored_classifier import own_units
from discreet.fitting.task import Task
from discreet.fitting.weighted_estimator import WeightedEstimator
from discreet.learners.linear.linear_classifier import FARTHEST, LOST, REACH, grown, path_of, rounds_of
from discreet.learners.linear.normal_scores import NormalScores
from discreet.learners.linear.target_distribution import TargetDistribution
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.columns.column_trees import ColumnTrees, column_trees_of
from discreet.questions.gradients.number_gradients import NumberLoss, number_gradients_of
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates, on_maps
from discreet.questions.vectors.second_moments import mapped_moments_of
from discreet.releases.joint_plan import Stage, StagedPlan, staged, vector_noise
from discreet.releases.spread import Spread
from discreet.releases.whitening import Whitening, damped, standardising
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# By judgement, on data as those of `tests/learners/linear/test_generalized_linear.py`, of 300 to 50,000 records.
SHARES = (0.05, 0.1, 0.1, 0.75)  # for moments of columns, second moments, the distribution of the target, gradients


@dataclass(frozen=True)
class NumberStart:
    """Where steps start from, for all records alike, and how far residuals reach: post-processing.

    Parameters
    ----------
    center, unit : float
        What the target is measured from and in.
    size : float
        What residuals are shrunk to.
    bend : float
        The second derivative of the loss at the start.
    variance : float
        Of the target, in squared units, where a loss asks for it.
    """

    center: float
    unit: float
    size: float
    bend: float
    variance: float = 1.0


@dataclass(frozen=True)
class SeenRecords:
    """Records by their noisy moments: post-processing.

    Parameters
    ----------
    white : Whitening
        What makes features of records.
    count : float
        How many records there are, or about.
    full : float
        How many of them would pull as much as all do, each shrunk by its length.
    """

    white: Whitening
    count: float
    full: float

    @classmethod
    def of(cls, white: Whitening, count: float, seen: float, reach: float) -> SeenRecords:
        """Where second moments were of records shrunk to `seen` typical lengths, and pulls to `reach` of those.

        Moments of records that were shrunk to a share s are too small by s^2, and so features of whole records too
        long; their pulls are shrunk once, and not twice.
        """
        kept = min(seen, 1.0)
        return cls(white, count, count * min(reach * kept, 1.0) / kept**2)


class SteppedRegressor(RegressorMixin, WeightedEstimator):
    """A score that is linear in the features, found by Newton's steps on noisy sums of gradients.

    Records are centred, scaled and whitened by noisy moments; one with a missing value counts for nothing, and one that
    is long counts less: what it adds is shrunk, and not the record itself. Steps start from a noisy distribution of the
    target. Coefficients have a prior whose variance is estimated from the releases: what cannot be told from noise is
    close to zero.

    Parameters
    ----------
    max_iter : int, optional
        Public. How many steps. Their estimates are averaged. By default 8, and 16 from epsilon 10; half as many where
        delta is 0: noise of pure releases grows with their number, and not with its root.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients, in the units of the data.
    intercept_ : float
        Released. The intercept.
    n_iter_ : int
        Public. The number of steps.
    target_ends_ : array of shape (2,)
        Public. The bounds of the target.
    """

    supervised: ClassVar[bool] = True
    loss: ClassVar[NumberLoss]
    """Whose gradients are taken."""
    coef_: Array
    intercept_: float
    n_iter_: int
    target_ends_: Array

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        max_iter: int | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.max_iter = max_iter
        self.epsilon, self.delta = epsilon, delta

    @property
    def level(self) -> float:
        """That of the quantile, for that loss."""
        return 0.5

    @abstractmethod
    def start(self, found: TargetDistribution, moved: float) -> NumberStart:
        """From the distribution of the target, where noise on residuals of size 1 moves scores by so much."""

    @abstractmethod
    def bends(self, begun: NumberStart, center: Array, variance: Array) -> NormalScores:
        """How the loss bends where scores have this mean and variance."""

    @abstractmethod
    def level_of(self, begun: NumberStart, variance: float) -> float:
        """The score of a record in the middle, where all are as at the start and scores have this variance."""

    @abstractmethod
    def own(self, begun: NumberStart, coef: Array, intercept: float) -> Artefact:
        """The coefficients and the intercept in the units of the target."""

    def check(self) -> None:
        check_whole(self.purpose, "max_iter", self._rounds(Budget(self.epsilon, self.delta)))

    def plan(self, task: Task) -> StagedPlan:
        """Moments of columns, second moments, a tree of the target, and `max_iter` gradients."""
        inputs, nothing = len(task.features), NumberStart(0.0, 1.0, 1.0, 1.0)
        nowhere, start = np.zeros((inputs + 1, inputs + 1)), np.zeros((1, inputs + 1))
        stages = (
            Stage(column_moments_of(task.schema, task.features), SHARES[0]),
            Stage(mapped_moments_of(task.schema, task.features, nowhere[:-1]), SHARES[1]),
            Stage(self._tree(task), SHARES[2]),
            Stage(self._gradients(task, nowhere, start, nothing), SHARES[3], self._rounds(task.budget)),
        )
        return staged(task.data, stages, task.budget, vector_noise)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Whiten the records, find where the target lies, and step to the minimiser."""
        rough, second, counted, steps = plan.spreads
        moments = ColumnMoments.of(permit.ask(column_moments_of(task.schema, task.features), rough.noise), rough.stddev)
        count, inputs = max(float(task.public_size or moments.count), 1.0), len(task.features)
        seen = grown(REACH, FARTHEST, damped(second.stddev, 1 + inputs) * inputs / count)
        standard = MappedCoordinates.of(task.schema, task.features, standardising(moments, seen))
        products = permit.ask(mapped_moments_of(task.schema, task.features, standard.map), second.noise)
        rounds, found = self._rounds(task.budget), self._target(task, counted, permit)
        moved = steps.stddev / math.sqrt(rounds) * (1 + inputs) / count
        begun = self.start(found, moved)
        moved *= begun.size / begun.bend
        reach = grown(REACH, FARTHEST, moved)
        white = Whitening.of(products, second.stddev, standard, count, reach)
        records = SeenRecords.of(white, count, seen, reach)
        scores = self._descended(task, begun, records, moved, steps, permit)
        own = own_units(Coordinates.of(task.schema, task.features, 1.0), scores)
        ends = task.schema.number(str(task.target))
        return {
            **self.own(begun, own["coef_"][0], float(own["intercept_"][0])),
            "n_iter_": rounds,
            "target_ends_": np.array([ends.lower, ends.upper], dtype=np.float64),
        }

    def _target(self, task: Task, counted: Spread, permit: Permit) -> TargetDistribution:
        target = str(task.target)
        number, trees = task.schema.number(target), ColumnTrees.of(task.schema, (target,), self._norm)
        counts = trees.counts(permit.ask(self._tree(task), counted.noise))[0]
        return TargetDistribution.of(counts, counted.stddev * math.sqrt(trees.variances[0]), number.lower, number.upper)

    def _descended(
        self, task: Task, begun: NumberStart, records: SeenRecords, moved: float, steps: Spread, permit: Permit
    ) -> Array:
        """The coefficients of the score, from where all records have the same."""
        white, rounds = records.white, self._rounds(task.budget)
        path = path_of(white, 1, rounds, moved)
        for turn in range(rounds):
            question = self._gradients(task, white.matrix, on_maps(path.current.T), begun)
            gradient = permit.ask(question, steps.noise).reshape(path.current.shape)
            variance = np.einsum("ij,ij->j", path.current, white.covariance @ path.current)
            normal = self.bends(begun, white.means @ path.current, np.maximum(variance, 0.0))
            bend = records.full / white.radius**2 * normal.mean
            if moved <= LOST:
                gradient = normal.straightened(gradient, white.intercept, path.current[:, 0])
            step = -gradient / bend
            if turn == 0:
                found = float(np.sum(step * (white.covariance @ step)))
                step += self.level_of(begun, found) * white.intercept[:, None]
            path.add(step, bend, steps.stddev * begun.size)
        return np.asarray(path.current.T @ white.matrix)

    def _gradients(self, task: Task, matrix: Array, coefficients: Array, begun: NumberStart) -> BoundedSum:
        asked = (task.schema, task.features, str(task.target), matrix, coefficients, self.loss)
        return number_gradients_of(*asked, begun.center, begun.unit, self.level, begun.size)

    def _tree(self, task: Task) -> BoundedSum:
        return column_trees_of(task.schema, (str(task.target),), self._norm)

    @property
    def _norm(self) -> Norm:
        return "l2" if self.delta > 0 else "l1"

    def _rounds(self, budget: Budget) -> int:
        return rounds_of(self.max_iter, budget)

    def scores(self, X: Any) -> Array:
        """The score of each row; a missing value counts as 0."""
        return np.asarray(np.nan_to_num(self._rows(X)) @ self.coef_ + self.intercept_)
