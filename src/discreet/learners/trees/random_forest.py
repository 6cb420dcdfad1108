"""Private random forests: a few trees that are chosen, random ones, or those whose splits are chosen."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from discreet.core.bound import Norm
from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.trees.forest_plan import MORE, StagedForest, usual_slope
from discreet.learners.trees.random_trees import (
    ChosenPlan,
    ForestPlan,
    RandomTrees,
    Trees,
    chosen_plan,
    chosen_trees,
    sample_question,
)
from discreet.learners.trees.score_calibration import Calibration
from discreet.questions.columns.box import GUESS
from discreet.questions.trees.forest_leaves import MOST
from discreet.questions.trees.forest_scores import class_shares, leaf_excess
from discreet.questions.trees.scores import leaf_counts_of
from discreet.releases.least_noise import least_noise
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# By theory up to constants, which are from made-up data: `sharper` and `chosen` in benchmarks/tuning_trees.py. The form
# of the rules was settled after scores of the benchmark had been seen.
TYPICAL = 0.04  # noise on a count, as a share of all records, that halves what a tree says
FULL = 2.5  # bits: a leaf should hold some six times the noise that the trees leave in it together
TREES = (1, 2, 4, 8, 16, 32, 64, 128)
FEWEST = 160.0  # records in units of the noise on the mean of all trees, below which chosen ones are better
MOST_CANDIDATES = 2**14
# From made-up data: `forests` in benchmarks/tuning_trees.py.
ENOUGH = 1e5  # records times epsilon, over the reach of the neighbors, from which on each split is chosen
PURELY_ENOUGH = 1e6  # the same where no delta is paid, and choices are dearer: `pure_forests` there
GROWN, SPLITS, HELD = 48, 4, 4.0  # trees then, random splits that each is chosen from, and records in a leaf


class RandomForestClassifier(RandomTrees):
    """A forest whose trees are random and public: only the counts of classes in their leaves come from the data.

    Every record counts in every tree. A record without a class that is listed counts for nothing; a missing value goes
    left. A leaf says how much more frequent each class is in it than in all leaves, the less the more noise is in its
    counts. Where noise allows, half of the cuts are drawn by noisy quantiles, for which a record with a missing value
    does not count; noisy counts of scores by class, without what a record says of itself, make probabilities of scores;
    and, for many records or a large epsilon, each split is the best of four random ones. For a few records, or a small
    epsilon, one tree or four are chosen instead, each the best of many random ones, by half of epsilon; the other half
    fills the leaves. That takes a curator.

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
    calibration_ : array of shape (2, n_scores)
        Released. The slope and the offset of the odds of the second of two classes, or of each class, by its score.
    features_ : array of shape (n_trees, n_nodes)
        Public, and released where trees are chosen. The feature that each node splits; the children of node i are
        2 i + 1 and 2 i + 2.
    cuts_ : array of shape (n_trees, n_nodes)
        Public, and released where trees are chosen. The value at which each node splits; greater values go right.

    Guarantee
    ---------
    `event_`: one release of one bounded sum, for the neighbors and the unit of the data set; add or remove one record
    for arrays; or several, composed: of cells of features (`column_cells`), before it, and of scores by class
    (`forest_scores`), after it; and one choice by the exponential mechanism for each level of each tree where splits
    are chosen (`candidate_scores_of`). Released: `leaf_values_`, `calibration_` and the cuts. T trees get T marks of a
    record, so that the sum moves by T in l1 and by sqrt(T) in l2: the random decision trees of Jagannathan,
    Pillaipakkamnatt and Wright 2009, with Gaussian noise where there is a delta. Where trees are chosen, one release
    for each choice more, by permute-and-flip on scores that a record moves by 1 (`tree_scores_of`); the leaves of a
    single tree are filled by another, since a record counts in one leaf (McKenna and Sheldon 2020, Theorem 1). Then no
    delta is paid.

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
    calibration_: Array

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

    def plan(self, task: Task) -> StagedForest | ChosenPlan:
        """Random trees, or a few chosen ones where the noise on the mean of all random ones would be too large.

        Where noise is so small that even choices of single splits see little of it, each split is one of a few.
        """
        n = task.data.public_size or self.expected_size
        if self.n_candidates is None:
            usual = self._random(task, n)
            few = n * math.sqrt(usual.trees) < FEWEST * usual.spread.stddev
            if not few or self.n_estimators is not None or not task.data.curated:
                return self._grown(task, n) or StagedForest.of(task, n, usual, 1)
        elif self.n_candidates == 1:
            return StagedForest.of(task, n, self._random(task, n), 1)
        task.data.check_curated(self.purpose)
        return chosen_plan(task, n, self.n_estimators, self.max_depth, self.n_candidates)

    def _grown(self, task: Task, n: int) -> StagedForest | None:
        """Trees whose splits are chosen, where records times epsilon are many enough, and whose leaves hold some."""
        enough = ENOUGH if task.budget.delta > 0 else PURELY_ENOUGH
        if not task.data.curated or n * task.budget.epsilon < enough * task.data.neighbors.reach:
            return None
        trees = GROWN if self.n_estimators is None else int(self.n_estimators)
        room = int(math.log2(max(MOST / 4 / trees / task.classes, 2)))
        depth = min(max(round(math.log2(n / HELD)), 1), 10, room) if self.max_depth is None else int(self.max_depth)
        counts = least_noise(task.data, sample_question(task, trees, depth, "l2"), task.budget)
        return StagedForest.of(task, n, ForestPlan(trees, depth, "l2", counts), SPLITS)

    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        """Draw the trees, choose from them, count, and see which classes go with which scores."""
        rng = check_random_state(permit.random_state(self.random_state))
        if isinstance(plan, StagedForest):
            trees = plan.grown(task, permit, rng)
            noisy = self._counted(task, plan.counts, permit, trees)
            return self._artefact(trees, noisy, plan.more, plan.calibration(task, permit, trees, noisy))
        trees = chosen_trees(task, plan, permit, rng)
        if plan.trees == 1:
            return self._labelled(task, plan, permit, trees)
        noisy = self._counted(task, plan.counts, permit, trees)
        stddev = plan.counts.spread.stddev
        calibration = Calibration.usual(class_shares(noisy), usual_slope(noisy, stddev))
        return self._artefact(trees, noisy, MORE * stddev, calibration)

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

    def _artefact(self, trees: Trees, noisy: Array, more: float, calibration: Calibration) -> Artefact:
        values = leaf_excess(noisy, class_shares(noisy), more) / len(noisy)
        return {
            "features_": trees.features,
            "cuts_": trees.cuts,
            "leaf_values_": values,
            "calibration_": np.stack([calibration.slopes, calibration.offsets]),
        }

    def _labelled(self, task: Task, plan: ChosenPlan, permit: Permit, trees: Trees) -> Artefact:
        """A single tree, whose leaves each stand for one class, which is taken to be twice as likely as any other."""
        counts = leaf_counts_of(task.schema, task.features, str(task.target), trees.features, trees.cuts)
        marks = np.eye(task.classes)[permit.ask(counts, plan.choice)]
        odds = logit(np.array([1, 2]) / (task.classes + 1))
        found = np.repeat([[odds[1] - odds[0]], [odds[0]]], 1 if task.classes == 2 else task.classes, axis=1)
        return {"features_": trees.features, "cuts_": trees.cuts, "leaf_values_": marks[None], "calibration_": found}

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        check_is_fitted(self)
        return Calibration(*self.calibration_).probabilities(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row, by odds: probabilities that are held from 0 and 1 would be alike."""
        check_is_fitted(self)
        odds = Calibration(*self.calibration_).odds(self._scores(X))
        likeliest = odds.argmax(axis=1) if odds.shape[1] > 1 else (odds[:, 0] > 0).astype(np.intp)
        return self.classes_[likeliest]

    def _scores(self, X: Any) -> Array:
        return self.decision_values(X)[:, -self.calibration_.shape[1] :]
