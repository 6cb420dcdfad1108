"""Linear scores by Newton's steps on noisy gradients."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.fitting.scored_classifier import LinearScores, own_units
from discreet.fitting.task import Task
from discreet.fitting.weighted_estimator import WeightedEstimator
from discreet.learners.linear.averaged_steps import AveragedSteps, CautiousSteps, EvenSteps, Path
from discreet.learners.linear.class_weights import WeightedClasses, given_weights
from discreet.learners.linear.normal_scores import Bends, NormalScores, lengthened, standard_scores
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates, on_maps
from discreet.questions.vectors.second_moments import mapped_moments_of
from discreet.releases.joint_plan import Stage, StagedPlan, staged, vector_noise
from discreet.releases.spread import Spread
from discreet.releases.whitening import Whitening, standardising
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# REACH was set on made-up data (make_classification of 500 to 50,000 records, 12 to 40 features, 2 to 5 classes, seeds
# 1 to 4), SHARES, STILL and rounds on others (benchmarks/tuning_linear.py): 8 rounds learn as much as 10 there, from
# 50,000 records. Of ROUNDS, 6 were tried first; with them two goals of the benchmark failed.
SHARES = (0.05, 0.1, 0.02, 0.83)  # for moments of columns, second moments, counts of classes, gradients
REACH = 0.7  # of the typical length of records, beyond which they count less: less noise is worth it
STILL = 0.03  # noise on scores below which it is not
GROWTH = 0.5  # the power of it by which lengths grow
ROUNDS, PURE_ROUNDS, AMPLE_ROUNDS = 8, 4, 16
AMPLE = 10.0  # the epsilon from which noise leaves room for more rounds
LOST = 0.2  # noise on scores beyond which how the loss bends is lost in it, and single columns, if there is one score
DROWNED = 8.0  # noise beyond which steps start close to where nothing is known
LEAST_BEND = 0.1  # of the second derivatives at the start: steps are not too long, where scores ran away
FARTHEST = 2.0  # times the typical length, at most


class LossPull(Protocol):
    """The residuals of a loss, by their greatest length and what follows from it."""

    @property
    def longest(self) -> float: ...

    def start(self, shares: Array) -> Array:
        """The best scores of all records alike, where the classes have these shares."""

    def bends(self, scores: Array) -> Array:
        """The mean second derivative of the loss at each row of scores."""

    def along(self, scores: Array, ways: Array) -> Array:
        """The second derivative of the loss along each of these ways from the scores beside it."""


@dataclass(frozen=True)
class StepBasis:
    """What all steps have in common, from releases before them.

    Parameters
    ----------
    white : Whitening
        What makes features of records.
    pull : LossPull
        How residuals are shrunk.
    classes : WeightedClasses
        Shares and weights.
    count : float
        How many records pull with all their length, or about.
    moved : float
        By how much noise moves scores.
    bends : Bends
        How the loss bends; where that is lost in noise, as if no residual were shrunk, which is more.
    steps : Spread
        The noise on each sum of gradients.
    """

    white: Whitening
    pull: LossPull
    classes: WeightedClasses
    count: float
    moved: float
    bends: Bends
    steps: Spread

    def path(self, scores: int, rounds: int) -> Path:
        """Steps of so many scores, with a prior as fine as noise allows."""
        return path_of(self.white, scores, rounds, self.moved)

    def straightened(self, gradient: Array, current: Array, start: Array, normal: NormalScores) -> Array:
        """A gradient as if the loss bent alike in all directions; as it is, where that is lost in noise."""
        if self.moved > LOST:
            return gradient
        if len(start) == 1:
            return normal.straightened(gradient, self.white.intercept, current[:, 0])
        values, vectors = np.linalg.eigh(current.T @ self.white.covariance @ current)
        points, weights = standard_scores(len(start))
        ways = self.white.means @ current + points @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        along = float(weights @ self.pull.along(start + ways, ways))
        squares = max(float(weights @ (ways**2).sum(axis=1)), 1e-9)
        return lengthened(gradient, current, normal.mean, along / squares)


class LinearClassifier(WeightedEstimator, LinearScores):
    """Scores that are linear in the features, found by Newton's steps on noisy sums of gradients.

    A learner says what its gradients are, and how its residuals pull.

    Parameters
    ----------
    max_iter : int, optional
        Public. How many steps. Their estimates are averaged. By default 8, and 16 from epsilon 10; half as many where
        delta is 0: noise of pure releases grows with their number, and not with its root.
    class_weight : "balanced" or dict, optional
        Public. The weight of the records of each class, 1 for those that are not named; only their proportions matter.
        "balanced" weighs classes by the inverse of their noisy counts. Records of great weight add no more, and others
        less: so there is more noise.
    """

    n_iter_: int
    class_weight: dict[Any, float] | Literal["balanced"] | None

    @abstractmethod
    def gradients(self, task: Task, matrix: Array, coefficients: Array, longest: float, weights: Array) -> BoundedSum:
        """The sum of gradients at these coefficients, of features that this matrix makes."""

    @abstractmethod
    def directions(self, classes: int) -> Array:
        """What makes coefficients of the scores from those that gradients are taken in."""

    @abstractmethod
    def pull(self, classes: int, moved: float) -> LossPull:
        """How residuals are shrunk, where noise on the usual ones moves scores by so much."""

    def fitted(self, found: StepBasis) -> Artefact:
        """More attributes, from what all steps have in common."""
        return {}

    def check(self) -> None:
        check_whole(self.purpose, "max_iter", self._rounds(Budget(self.epsilon, self.delta)))

    def plan(self, task: Task) -> StagedPlan:
        """Moments of columns, second moments, counts of classes, and `max_iter` gradients."""
        inputs, directions = len(task.features), self.directions(task.classes)
        self._given_weights(task)
        nowhere, start = np.zeros((inputs + 1, inputs + 1)), np.zeros((len(directions.T), inputs + 1))
        usual = self.pull(task.classes, math.inf).longest
        stages = (
            Stage(column_moments_of(task.schema, task.features), SHARES[0]),
            Stage(mapped_moments_of(task.schema, task.features, nowhere[:-1]), SHARES[1]),
            Stage(_class_counts_of(task), SHARES[2]),
            Stage(
                self.gradients(task, nowhere, start, usual, np.ones(task.classes)), SHARES[3], self._rounds(task.budget)
            ),
        )
        return staged(task.data, stages, task.budget, vector_noise)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Whiten the records, count the classes, and step to the minimiser."""
        rough, second, counted, _ = plan.spreads
        released = permit.ask(column_moments_of(task.schema, task.features), rough.noise)
        moments = ColumnMoments.of(released, rough.stddev)
        standard = MappedCoordinates.of(task.schema, task.features, standardising(moments, REACH))
        products = permit.ask(mapped_moments_of(task.schema, task.features, standard.map), second.noise)
        counts = permit.ask(_class_counts_of(task), counted.noise)
        classes = WeightedClasses.of(counts, counted.stddev, self._given_weights(task))
        count = max(float(task.public_size or moments.count), 1.0)
        found = self._found(task, plan, classes, count, partial(Whitening.of, products, second.stddev, standard, count))
        scores = self._descended(task, found, permit) @ found.white.matrix
        return {
            **self.fitted(found),
            "n_iter_": self._rounds(task.budget),
            **own_units(Coordinates.of(task.schema, task.features, 1.0), scores),
        }

    def _found(
        self,
        task: Task,
        plan: StagedPlan,
        classes: WeightedClasses,
        count: float,
        whitened: Callable[[float], Whitening],
    ) -> StepBasis:
        """How far records reach before what they add is shrunk, and how long residuals are.

        Both grow where noise moves scores by less than `STILL`.
        """
        usual, whole, steps = self.pull(task.classes, math.inf), self.pull(task.classes, 1e-9), plan.spreads[-1]
        bend = classes.kept * float(whole.bends(whole.start(classes.shares)[None, :])[0])
        moved = steps.stddev / math.sqrt(self._rounds(task.budget)) * (1 + len(task.features)) / (count * bend)
        pull = self.pull(task.classes, moved)
        steps = dataclasses.replace(steps, stddev=steps.stddev * pull.longest / usual.longest)
        reach = grown(REACH, FARTHEST, moved)
        pulling = count * classes.kept * min(reach, 1.0)
        return StepBasis(whitened(reach), pull, classes, pulling, moved, (whole if moved > LOST else pull).bends, steps)

    def _descended(self, task: Task, found: StepBasis, permit: Permit) -> Array:
        """The coefficients of all scores, from where all records have the same scores."""
        white, directions = found.white, self.directions(task.classes)
        start = found.pull.start(found.classes.shares)
        base = np.outer(white.intercept, start)
        least = LEAST_BEND * float(found.bends(start[None, :])[0])
        rounds, scores = self._rounds(task.budget), len(directions)
        path = found.path(scores, rounds)
        for _ in range(rounds):
            coefficients = on_maps(((base + path.current) @ directions).T)
            question = self.gradients(task, white.matrix, coefficients, found.pull.longest, found.classes.weights)
            gradient = permit.ask(question, found.steps.noise).reshape(path.current.shape)
            center = white.means @ path.current
            variances = np.einsum("ij,ij->j", path.current, white.covariance @ path.current)
            normal = NormalScores.of(found.bends, start + center, np.maximum(variances, 0.0), least)
            bend = found.count / white.radius**2 * normal.mean
            gradient = found.straightened(gradient, path.current, start, normal)
            path.add(-gradient / bend, bend, found.steps.stddev)
        return np.asarray(((base + path.current) @ directions).T)

    def _given_weights(self, task: Task) -> Array | None:
        return given_weights(self.purpose, self.class_weight, task.schema.category(str(task.target)).values)

    def _rounds(self, budget: Budget) -> int:
        return rounds_of(self.max_iter, budget)


def path_of(white: Whitening, scores: int, rounds: int, moved: float) -> Path:
    """Steps of so many scores, with a prior as fine as noise allows that moves scores by so much.

    The variance of a column is found from one coefficient of each score, and so, relatively, the better the more there
    are.
    """
    if moved > DROWNED:
        return CautiousSteps(white, scores, rounds)
    return EvenSteps(white, scores) if moved > LOST * math.sqrt(scores) else AveragedSteps(white, scores)


def rounds_of(max_iter: int | None, budget: Budget) -> int:
    """How many steps: so many, or as many as this price allows."""
    if max_iter is not None:
        return int(max_iter)
    if budget.delta > 0:
        return ROUNDS if budget.epsilon < AMPLE else AMPLE_ROUNDS
    return PURE_ROUNDS if budget.epsilon < AMPLE else ROUNDS


def grown(usual: float, most: float, moved: float) -> float:
    """A length that grows, up to a greatest, where noise moves scores by less than `STILL`."""
    return float(np.clip(usual * (STILL / moved) ** GROWTH, usual, most))


def _class_counts_of(task: Task) -> BoundedSum:
    """How many records each class has."""
    return contingency_of(task.schema, (str(task.target),), (0,))
