"""Private random forests: random trees, or a few chosen ones; and those of 2009."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.trees.random_trees import (
    ChosenPlan,
    ForestPlan,
    RandomTrees,
    chosen_plan,
    chosen_trees,
    labelled,
    sample_question,
)
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.columns.box import GUESS
from discreet.questions.trees.forest_leaves import DEEPEST, MOST
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# By theory up to constants, which are from made-up data: `sharper` and `chosen` in benchmarks/tuning_trees.py. The form
# of the rules was settled after scores of the benchmark had been seen.
TYPICAL = 0.04  # noise on a count, as a share of all records, that halves what a tree says
FULL = 2.5  # bits: a leaf should hold some six times the noise that the trees leave in it together
MORE = 3.0  # noises that are added to the count of a leaf, so that a leaf of noise says little
SHARPER = 4.0  # since random splits leave more of other classes in a leaf than there are around a row
TREES = (1, 2, 4, 8, 16, 32, 64, 128)
FEWEST = 160.0  # records in units of the noise on the mean of all trees, below which chosen ones are better
MOST_CANDIDATES = 2**14


class RandomForestClassifier(RandomTrees):
    """A forest whose trees are random and public: only the counts of classes in their leaves come from the data.

    Every record counts in every tree. A record without a class that is listed counts for nothing; a missing value goes
    left. A leaf says how much more frequent each class is in it than in all leaves, the less the more noise is in its
    counts. For a few records, or a small epsilon, one tree or four are chosen instead, each the best of many random
    ones, by half of epsilon; the other half fills the leaves. That takes a curator.

    Parameters
    ----------
    n_estimators : int, optional
        Public. How many trees; where not given, so many that they say most together: with Gaussian noise all that are
        allowed, with Laplace noise a share of the number of records times epsilon.
    max_depth : int, optional
        Public. How deep they are; where not given, so deep that leaves hold enough records for the noise.
    n_candidates : int, optional
        Public. How many random trees each is chosen from, by the number of records that it classifies right; 1 chooses
        none. Where not given, 512 if that is better than random trees for so many records and this epsilon.

    Attributes
    ----------
    leaf_values_ : array of shape (n_trees, n_leaves, n_classes)
        Released. What each leaf says about each class.
    features_ : array of shape (n_trees, n_nodes)
        Public, and released where trees are chosen. The feature that each node splits; the children of node i are
        2 i + 1 and 2 i + 2.
    cuts_ : array of shape (n_trees, n_nodes)
        As `features_`. Where; greater values go right.

    Guarantee
    ---------
    `event_`: one release of one bounded sum, for the neighbors and the unit of the data set; add or remove one record
    for arrays. Released: `leaf_values_`, post-processing of it. T trees get T marks of a record, so that the sum moves
    by T in l1 and by sqrt(T) in l2: the random decision trees of Jagannathan, Pillaipakkamnatt and Wright 2009, with
    Gaussian noise where there is a delta. Where trees are chosen, one release for each choice more, by permute-and-flip
    on scores that a record moves by 1 (`tree_scores_of`); the leaves of a single tree are filled by another, since a
    record counts in one leaf (McKenna and Sheldon 2020, Theorem 1). Then no delta is paid.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 3))
    >>> y = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> model = RandomForestClassifier(classes=[0, 1], bounds=(-1, 1), epsilon=1.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    purpose: ClassVar[str] = "random forest"

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        max_depth: int | None = None,
        n_candidates: int | None = None,
        expected_size: int = GUESS,
        random_state: Any = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.n_candidates = n_candidates
        self.expected_size = expected_size
        self.random_state = random_state
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        super().check()
        if self.n_candidates is not None:
            check_whole(self.purpose, "n_candidates", self.n_candidates, most=MOST_CANDIDATES)

    def plan(self, task: Task) -> ForestPlan | ChosenPlan:
        """Random trees, or a few chosen ones where the noise on the mean of all random ones would be too large."""
        n = task.data.public_size or self.expected_size
        if self.n_candidates is None:
            usual = self._random(task, n)
            few = n * math.sqrt(usual.trees) < FEWEST * usual.spread.stddev
            if not few or self.n_estimators is not None or not task.data.curated:
                return usual
        elif self.n_candidates == 1:
            return self._random(task, n)
        task.data.check_curated(self.purpose)
        return chosen_plan(task, n, self.n_estimators, self.max_depth, self.n_candidates)

    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        """Draw the trees, choose from them, and count."""
        if isinstance(plan, ForestPlan):
            return super().learn(task, plan, permit)
        rng = check_random_state(permit.random_state(self.random_state))
        trees = chosen_trees(task, plan, permit, rng)
        if plan.trees == 1:
            return labelled(task, plan, permit, trees)
        return self._filled(task, plan.counts, permit, trees)

    def _random(self, task: Task, n: int) -> ForestPlan:
        """One release, of so many trees that they say most together.

        If noise of the deviation s on counts of n records leaves each of T trees 1 / (1 + (s / (n TYPICAL))^2) of what
        it says, their sum is to be maximal. Noise on the mean of T counts is s / sqrt(T): the depth follows from it.
        """
        numbers = TREES if self.n_estimators is None else (int(self.n_estimators),)
        norms: tuple[Norm, ...] = ("l1", "l2")
        plans = [self._plan_of(task, trees, norm, n) for trees in numbers for norm in norms]
        return max(plans, key=lambda plan: plan.trees / (1 + (plan.spread.stddev / (n * TYPICAL)) ** 2))

    def _plan_of(self, task: Task, trees: int, norm: Norm, n: int) -> ForestPlan:
        spread = least_noise(task.data, sample_question(task, trees, 1, norm), task.budget)
        numbers = trees * task.classes
        room = int(math.log2(max(MOST / 4 / numbers, 2)))
        depth = math.log2(max(n * math.sqrt(trees) / max(spread.stddev, 1e-9), 1.0)) - FULL
        own = min(max(round(depth), 1), 10, room) if self.max_depth is None else int(self.max_depth)
        full = least_noise(task.data, sample_question(task, trees, own, norm), task.budget)
        return ForestPlan(trees, own, norm, full)

    def _values(self, task: Task, plan: ForestPlan, noisy: Array) -> Artefact:
        """How much more frequent each class is in a leaf, held down by noise, and raised by what that usually takes.

        A record is usually in a leaf of sum w^2 / sum w records, if leaves hold w; what noise adds to squares is known.
        """
        shares = np.maximum(noisy.sum(axis=(0, 1)), 1.0)
        shares /= shares.sum()
        whole, stddev = noisy.sum(axis=2, keepdims=True), plan.spread.stddev
        excess = (noisy - whole * shares) / np.maximum(np.maximum(whole, 0.0) + MORE * stddev, 1.0)
        n = max(float(noisy.sum()), 1.0)
        usual = max((float(np.square(whole).sum()) - noisy.size * stddev**2) / n, n / whole.size)
        return {"leaf_values_": (shares + SHARPER * excess * (usual + MORE * stddev) / usual) / plan.trees}


class RandomDecisionTrees(RandomTrees):
    """The random decision trees of 2009, for study; `RandomForestClassifier` is more accurate.

    Trees are random and public. Each pays an equal share of epsilon for Laplace noise on the counts of classes in its
    leaves; a row is given to the class whose counts, added over all trees, are largest. A record without a class that
    is listed counts for nothing; a missing value goes left.

    Parameters
    ----------
    n_estimators : int
        Public. How many trees.
    max_depth : int, optional
        Public. How deep they are; where not given, half the number of features, and log2(n) - 1 at most.
    epsilon, delta : float
        Public. What one fit may cost; no delta is used.

    Attributes
    ----------
    leaf_values_ : array of shape (n_trees, n_leaves, n_classes)
        Released. The noisy counts.
    features_ : array of shape (n_trees, n_nodes)
        Public. The feature that each node splits; the children of node i are 2 i + 1 and 2 i + 2.
    cuts_ : array of shape (n_trees, n_nodes)
        Public. Where; greater values go right.

    Guarantee
    ---------
    Pure: `event_` is the Laplace loss of one bounded sum, for the neighbors and the unit of the data set; add or remove
    one record for arrays. Released: `leaf_values_`. Jagannathan, Pillaipakkamnatt and Wright 2009, Theorem 1; the
    number of records, from which they derive the depth, is public here or expected.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 4))
    >>> y = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> model = RandomDecisionTrees(classes=[0, 1], bounds=(-1, 1), epsilon=3.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.6)
    True
    """

    purpose: ClassVar[str] = "random decision trees"

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        max_depth: int | None = None,
        expected_size: int = GUESS,
        random_state: Any = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.expected_size = expected_size
        self.random_state = random_state
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def plan(self, task: Task) -> ForestPlan:
        """One Laplace release of the counts in all leaves."""
        n = max(task.data.public_size or self.expected_size, 4)
        usual = max(min(len(task.features) // 2, int(math.log2(n)) - 1, DEEPEST), 1)
        trees, depth = int(self.n_estimators), usual if self.max_depth is None else int(self.max_depth)
        noise = calibrate(Laplace(), Budget(task.budget.epsilon))
        return ForestPlan(trees, depth, "l1", spread(task.data, sample_question(task, trees, depth, "l1"), noise))

    def _values(self, task: Task, plan: ForestPlan, noisy: Array) -> Artefact:
        return {"leaf_values_": np.asarray(noisy)}
