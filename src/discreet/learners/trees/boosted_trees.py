"""What boosted random trees have in common: public splits, and values of all leaves, corrected round after round."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from discreet.core.bound import Norm
from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.anova.anova_fit import ResidualPull, SizeEstimate, TargetCounts, TargetStart
from discreet.learners.anova.anova_posterior import LAST, AnovaPosterior
from discreet.learners.anova.constant_search import ConstantSearch
from discreet.learners.trees.column_copula import ColumnCopula
from discreet.learners.trees.random_trees import MOST_TREES, Trees
from discreet.questions.columns.column_trees import ColumnTrees, column_trees_of
from discreet.questions.gradients.anova_scores import STEEPEST
from discreet.questions.question import BoundedSum
from discreet.questions.trees.forest_leaves import DEEPEST, leaves_of
from discreet.questions.trees.leaf_gradients import leaf_gradients_of
from discreet.questions.vectors.second_moments import mapped_moments_of
from discreet.releases.joint_plan import Stage, StagedPlan, staged, vector_noise
from discreet.releases.spread import Spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: `random_boosting` in benchmarks/tuning_trees.py; HIDDEN on some sets by hand. What is done where
# noise is small (AMPLE_ROUNDS, STILL, LOOSEST) was settled on the sets of tests/learners/twins.py.
COUNTS, MOMENTS, START, STEPS = 0.06, 0.04, 0.02, 0.88  # shares of the budget
ROUNDS, PURE_ROUNDS, AMPLE_ROUNDS = 10, 3, 20
AMPLE = 10.0  # the epsilon from which noise leaves room for more rounds
TREES, PURE_TREES, DEPTH = 32, 16, 4
STILL, LOOSEST = 0.01, 100.0  # noise on the mean residual of leaves, below which priors are wider, and how much at most
HIDDEN = 0.6  # of the same, above which nothing but a constant is looked for
MOST_LEAVES = 2**11  # of all trees: each has a coefficient, and they are found together


class BoostedTrees(PrivateEstimator):
    """Sums of trees whose splits are random and public, and the values of whose leaves are fitted together.

    Parameters
    ----------
    n_estimators : int, optional
        Public. How many trees; where not given, 32, and 16 where no delta is paid.
    max_depth : int, optional
        Public. How deep they are, 4 where not given: what depends on k features at once takes a depth of k or more.
    max_iter : int, optional
        Public. The number of rounds; where not given, 10, 20 from epsilon 10 on, and 3 where no delta is paid.
    random_state : int, RandomState instance or None
        Public. Seeds the trees; never the noise.

    Attributes
    ----------
    intercept_ : array of shape (n_scores,)
        Released. The scores of all records beside their leaves.
    leaf_values_ : array of shape (n_trees, n_leaves, n_scores)
        Released. What each leaf adds to each score.
    features_ : array of shape (n_trees, n_nodes)
        Public. The feature that each node splits; the children of node i are 2 i + 1 and 2 i + 2.
    cuts_ : array of shape (n_trees, n_nodes)
        Released, since they are drawn by noisy counts. Where; greater values go right, and missing ones left.
    residual_ : float
        Released. What residuals were shrunk to: the length of those of classes; of a number, standard deviations of
        residuals. It is larger where noise is small, which depends on a noisy count.
    n_iter_ : int
        Released. The number of rounds; 0 where noise hides all but a constant, which depends on a noisy count.
    """

    supervised: ClassVar[bool] = True
    longest: ClassVar[float]  # residual
    n_estimators: int | None
    max_depth: int | None
    max_iter: int | None
    random_state: Any
    intercept_: Array
    leaf_values_: Array
    features_: Array
    cuts_: Array
    residual_: float
    n_iter_: int

    @abstractmethod
    def target_counts(self, task: Task) -> BoundedSum:
        """How many records have which target."""

    @abstractmethod
    def start(self, task: Task, counts: Array, stddev: float, count: float) -> TargetStart:
        """What counts of the target with this noise say, where there are so many records."""

    @abstractmethod
    def constant_search(self, task: Task, size: SizeEstimate, target: TargetCounts) -> ConstantSearch:
        """What looks for a constant, after these releases."""

    @abstractmethod
    def pull(self, begun: TargetStart, variance: float, size: float) -> ResidualPull:
        """How residuals pull, where scores have this variance and residuals this size."""

    def resized(self, begun: TargetStart, size: float, square: float) -> float:
        """The size of residuals, after a round in which they had this mean square, shrunk and in squares of it."""
        return size

    @abstractmethod
    def directions(self, task: Task) -> Array:
        """What makes scores of those that residuals are computed in: of shape (n_scores, outputs)."""

    def check(self) -> None:
        trees, depth = self._shape()
        check_whole(self.purpose, "n_estimators", trees, most=MOST_TREES)
        check_whole(self.purpose, "max_depth", depth, most=DEEPEST)
        check_whole(self.purpose, "number of leaves of all trees", trees * 2**depth, most=MOST_LEAVES)
        check_whole(self.purpose, "max_iter", self._rounds())

    def plan(self, task: Task) -> StagedPlan:
        """Trees of all features, their products if a delta is paid, what the target is alone, and all rounds."""
        trees, depth = self._shape()
        nodes, outputs = np.zeros((trees, 2**depth - 1)), len(self.directions(task).T)
        heights = np.zeros((outputs, 1 + trees * 2**depth))
        stages = [Stage(self._columns(task), COUNTS)]
        if self.delta > 0:
            nowhere = np.zeros((len(task.features), len(task.features) + 1))
            stages.append(Stage(mapped_moments_of(task.schema, task.features, nowhere), MOMENTS))
        gradients = self._gradients(task, Trees(nodes, nodes), heights, (0.0,) * outputs, 1.0, 1.0)
        stages += [Stage(self.target_counts(task), START), Stage(gradients, STEPS, self._rounds())]
        return staged(task.data, stages, task.budget, vector_noise)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Draw the trees by the distribution of the features, and correct the values of all leaves in each round.

        Where noise hides what leaves say, all rounds look for a constant.
        """
        rng = check_random_state(permit.random_state(self.random_state))
        rough, *second, start, steps = plan.spreads
        columns, released = self._trees(task), permit.ask(self._columns(task), rough.noise)
        size, target = SizeEstimate.of(columns, released, rough.stddev), TargetCounts(task, self.target_counts(task))
        copula = ColumnCopula.of(task, columns, released, rough.stddev, size.known(task.data.public_size))
        if second:
            products = permit.ask(mapped_moments_of(task.schema, task.features, copula.map), second[0].noise)
            copula = copula.correlated(task, products, second[0].stddev)
        target.ask(permit, start.noise)
        trees, rounds = copula.trees(task, rng, *self._shape()), self._rounds()
        shape = len(trees.cuts), trees.cuts.shape[1] + 1
        least = SizeEstimate(size.value - math.sqrt(size.variance), size.variance).known(task.data.public_size)
        moved = steps.stddev * shape[1] / (least * math.sqrt(rounds * shape[0]))
        if moved > HIDDEN:
            search = self.constant_search(task, size, target)
            for _ in range(rounds):
                search.ask(permit, steps.noise)
            begun, rounds = search.found(), 0
            values = np.zeros((1 + shape[0] * shape[1], len(begun.center)))
        else:
            begun = self._loosened(self.start(task, target.counts, target.stddev, copula.count), moved)
            values = self._fitted(task, permit, trees, copula.drawn(rng), begun, steps)
        heights = begun.unit * values @ self.directions(task).T
        return {
            "intercept_": heights[0] + self._level_of(task, begun),
            "leaf_values_": heights[1:].reshape(*shape, -1),
            "features_": trees.features,
            "cuts_": trees.cuts,
            "residual_": begun.size,
            "n_iter_": rounds,
        }

    def _loosened(self, begun: TargetStart, moved: float) -> TargetStart:
        """With a wider prior, and residuals that are shrunk less, where noise moves what leaves say by little."""
        loose = float(np.clip(STILL / moved, 1.0, LOOSEST))
        size = min(begun.size * math.sqrt(loose), self.longest)
        return dataclasses.replace(begun, variance=begun.variance * loose, size=size)

    def _fitted(
        self, task: Task, permit: Permit, trees: Trees, made: Array, begun: TargetStart, steps: Spread
    ) -> Array:
        """The values of leaves after all rounds: posterior means, of which each tree has a variance of its own."""
        products = _products(trees, made, begun.count)
        scale, leaves = 1 / math.sqrt(1 + len(trees.cuts)), trees.cuts.shape[1] + 1
        groups = (np.arange(len(products)) + leaves - 1) // leaves
        posterior, size = AnovaPosterior(products, groups, len(begun.center)), begun.size
        for turn in range(1, self._rounds() + 1):
            pull = self.pull(begun, posterior.variance / begun.count, size)
            heights = np.clip(scale * posterior.mean.T, -STEEPEST, STEEPEST)
            question = self._gradients(task, trees, heights, begun.center, begun.unit, pull.residual)
            found = permit.ask(question, steps.noise)
            gradient, step = scale * pull.residual * found[:-1].reshape(heights.shape).T, scale * steps.stddev
            posterior.add(gradient, turn, pull.bend, pull.residual * step, pull.square)
            posterior.fit(begun.variance)
            size = self.resized(begun, size, (float(found[-1]) + steps.stddev) / begun.count)
        posterior.fit(begun.variance, LAST)
        return np.asarray(scale * posterior.mean)

    def scores(self, X: Any) -> Array:
        """The scores of each row, of shape (n, n_scores)."""
        rows = self._rows(X)
        found = np.tile(self.intercept_, (len(rows), 1))
        places = leaves_of(rows, self.features_.astype(np.intp), self.cuts_)
        for values, own in zip(self.leaf_values_, places, strict=True):
            found += values[own]
        return found

    @abstractmethod
    def _level_of(self, task: Task, begun: TargetStart) -> Array:
        """The scores before the first round."""

    def _shape(self) -> tuple[int, int]:
        """How many trees, and how deep."""
        trees, depth = self.n_estimators, self.max_depth
        usual = TREES if self.delta > 0 else PURE_TREES
        return usual if trees is None else trees, DEPTH if depth is None else depth

    def _rounds(self) -> int:
        if self.max_iter is not None:
            return self.max_iter
        if self.delta > 0:
            return ROUNDS if self.epsilon < AMPLE else AMPLE_ROUNDS
        return PURE_ROUNDS

    @property
    def _norm(self) -> Norm:
        return "l2" if self.delta > 0 else "l1"

    def _trees(self, task: Task) -> ColumnTrees:
        return ColumnTrees.of(task.schema, task.features, self._norm)

    def _columns(self, task: Task) -> BoundedSum:
        return column_trees_of(task.schema, task.features, self._norm)

    def _gradients(
        self, task: Task, trees: Trees, heights: Array, center: tuple[float, ...], unit: float, residual: float
    ) -> BoundedSum:
        about = (task.schema, task.features, str(task.target), trees.features, trees.cuts)
        return leaf_gradients_of(*about, heights, center, unit, residual, self._norm)


def _products(trees: Trees, made: Array, count: float) -> Array:
    """The sum over so many records of products of features, by made-up records: a constant, and a mark for each leaf.

    All features of a record together have length 1.
    """
    places = leaves_of(made, trees.features.astype(np.intp), trees.cuts).T
    number, leaves = len(trees.cuts), trees.cuts.shape[1] + 1
    every = np.column_stack([np.zeros(len(made), dtype=np.intp), 1 + places + leaves * np.arange(number)])
    ends = np.arange(len(made) + 1) * (number + 1)
    marks = csr_array((np.ones(every.size), every.ravel(), ends), shape=(len(made), 1 + number * leaves))
    return np.asarray((marks.T @ marks).toarray() * (count / len(made) / (number + 1)))
