"""Private anomaly scores: how soon random cuts leave a record alone, by noisy counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils import check_random_state

from discreet.core.bound import Norm
from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.trees.random_trees import MIDDLE, MOST_TREES, Trees
from discreet.questions.trees.forest_leaves import DEEPEST
from discreet.questions.trees.leaf_counts import LONGEST, leaf_counts_of, length_ends, mean_lengths, path_lengths_of
from discreet.releases.joint_plan import Stage, StagedPlan, staged
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# By judgement: six levels lose least where n times epsilon is small, and the offset needs few counts.
SHARES = (0.85, 0.15)  # of the budget: for the leaves, and for the offset
CELLS = 64  # of mean path lengths, that the offset is found among
SHORTEST = 1.0  # of usual path lengths, where noise hides all


class IsolationForest(OutlierMixin, PrivateEstimator):
    """Anomaly scores: how soon random cuts leave a record alone.

    Trees are random and public: each cut halves, about, the cell above it along a random feature, from the bounds of
    the features on. Noisy counts in the leaves say how far a path leads before no more records are left than noise
    could feign; a record with short paths is an anomaly. A second table, of noisy counts of path lengths, gives the
    offset. A missing value goes left, and one beyond the bounds is as one at the bound.

    Parameters
    ----------
    n_estimators : int
        Public. How many trees. They share the price, and so the mean over all of them has hardly more noise with many.
    max_depth : int
        Public. How deep they are: more where bounds are much wider than the data, and records many.
    contamination : float
        Public. The share of anomalies among the records, up to 0.5; it decides `offset_`.
    random_state : int, RandomState instance or None
        Public. Seeds the trees; never the noise.

    Attributes
    ----------
    leaf_counts_ : array of shape (n_trees, n_leaves)
        Released. The noisy counts of records.
    path_lengths_ : array of shape (n_trees, n_leaves)
        Released. The path length of each leaf, which follows from the counts.
    usual_length_ : float
        Released. The mean path length of all records, which follows from the counts, too.
    offset_ : float
        Released. The score below which a record is called an anomaly.
    features_ : array of shape (n_trees, n_nodes)
        Public. The feature that each node splits; the children of node i are 2 i + 1 and 2 i + 2.
    cuts_ : array of shape (n_trees, n_nodes)
        Public. Where; greater values go right.

    Guarantee
    ---------
    `event_`: two releases of one bounded sum each, composed, for the neighbors and the unit of the data set; add or
    remove one record for arrays. Released: what is called so above. Scores and labels are of records that the caller
    already has, and are not private.
    The scores are those of Liu, Ting and Zhou 2008, and trees that need no data those of Tan, Ting and Liu 2011; both
    from memory, not checked against the papers. That a path ends where noise begins is our own.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 0.1, (4900, 2)), rng.uniform(-1, 1, (100, 2))])
    >>> model = IsolationForest(bounds=(-1, 1), contamination=0.02, epsilon=1.0, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [0.9, -0.8]])
    array([ 1, -1])
    """

    purpose: ClassVar[str] = "isolation forest"
    leaf_counts_: Array
    path_lengths_: Array
    usual_length_: float
    offset_: float
    features_: Array
    cuts_: Array

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        max_depth: int = 6,
        contamination: float = 0.1,
        columns: Sequence[str] | None = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.contamination = contamination
        self.columns, self.bounds = columns, bounds
        self.epsilon, self.delta = epsilon, delta
        self.random_state = random_state

    def check(self) -> None:
        check_whole(self.purpose, "n_estimators", self.n_estimators, most=MOST_TREES)
        check_whole(self.purpose, "max_depth", self.max_depth, most=DEEPEST)
        check_positive(self.purpose, "contamination", self.contamination, most=0.5)

    def plan(self, task: Task) -> StagedPlan:
        """The counts in all leaves, and those of path lengths."""
        trees, leaves = int(self.n_estimators), 2 ** int(self.max_depth)
        nodes, ends = np.zeros((trees, leaves - 1)), np.zeros((trees, leaves))
        counts = leaf_counts_of(task.schema, task.features, nodes, nodes, self._norm)
        lengths = path_lengths_of(task.schema, task.features, nodes, nodes, ends, CELLS)
        return staged(task.data, [Stage(counts, SHARES[0]), Stage(lengths, SHARES[1])], task.budget)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        leaf, _ = plan.spreads
        rng = check_random_state(permit.random_state(self.random_state))
        trees = halving_trees(task, rng, int(self.n_estimators), int(self.max_depth))
        asked = leaf_counts_of(task.schema, task.features, trees.features, trees.cuts, self._norm)
        counts = permit.ask(asked, leaf.noise).reshape(len(trees.cuts), -1)
        lengths = path_lengths(counts, leaf.stddev)
        longest = self._longest_anomaly(task, plan, permit, trees, counts, lengths)
        usual = usual_length(counts, lengths)
        return {
            "leaf_counts_": counts,
            "path_lengths_": lengths,
            "usual_length_": usual,
            "offset_": float(-(2.0 ** (-longest / usual))),
            "features_": trees.features,
            "cuts_": trees.cuts,
        }

    def score_samples(self, X: Any) -> Array:
        """The score of each row, from -1 to 0: the lower, the stranger; a usual record has about -0.5."""
        lengths = mean_lengths(self._rows(X), self.features_.astype(np.intp), self.cuts_, self.path_lengths_)
        return np.asarray(-(2.0 ** (-lengths / self.usual_length_)))

    def decision_function(self, X: Any) -> Array:
        """The score of each row above the offset: negative for anomalies."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """-1 for anomalies, else 1."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    @property
    def _norm(self) -> Norm:
        """A record has one mark in each tree: Laplace noise is the least without a delta."""
        return "l2" if self.delta > 0 else "l1"

    def _longest_anomaly(
        self, task: Task, plan: StagedPlan, permit: Permit, trees: Trees, counts: Array, lengths: Array
    ) -> float:
        """The mean path length that the share of anomalies does not exceed, by noisy counts of these."""
        asked = path_lengths_of(task.schema, task.features, trees.features, trees.cuts, lengths, CELLS)
        released = permit.ask(asked, plan.spreads[1].noise)
        whole = task.data.public_size or max(float(counts.sum(axis=1).mean()), 1.0)
        return length_below(released, length_ends(lengths, CELLS), self.contamination * whole)


def halving_trees(task: Task, rng: np.random.RandomState, trees: int, depth: int) -> Trees:
    """Random trees whose every cut lies in the middle part of its own cell, along any feature."""
    numbers = [task.schema.number(name) for name in task.features]
    lower, upper = np.array([one.lower for one in numbers]), np.array([one.upper for one in numbers])
    features, parts = np.zeros((trees, 2**depth - 1), dtype=np.intp), rng.uniform(size=(trees, 2**depth - 1))
    features[:] = rng.randint(len(numbers), size=features.shape)
    parts = 0.5 + MIDDLE * (parts - 0.5)
    drawn = [_cuts(own, part, lower, upper) for own, part in zip(features, parts, strict=True)]
    return Trees(features.astype(np.float64), np.stack(drawn))


def _cuts(features: NDArray[np.intp], parts: Array, lower: Array, upper: Array) -> Array:
    """Where each node of one tree cuts its cell, level by level, at these parts of its width."""
    cuts, low, high = np.zeros(len(parts)), lower[None, :], upper[None, :]
    first = 0
    while first < len(parts):
        level = slice(first, 2 * first + 1)
        here = np.arange(len(low)), features[level]
        cuts[level] = low[here] * (1 - parts[level]) + high[here] * parts[level]
        low, high = np.repeat(low, 2, axis=0), np.repeat(high, 2, axis=0)
        high[2 * here[0], here[1]] = cuts[level]
        low[2 * here[0] + 1, here[1]] = cuts[level]
        first = 2 * first + 1
    return cuts


def path_lengths(counts: Array, stddev: float) -> Array:
    """Post-processing: how far the path to each leaf leads before a node holds no more than noise could feign.

    A leaf that holds more stands for the path below it, too, which would halve its records at each step.

    Examples
    --------
    >>> path_lengths(np.array([[40.0, 0.0, 3.0, -1.0]]), 4.0)
    array([[5., 1., 0., 0.]])
    """
    trees, leaves = counts.shape
    lengths, alive = np.zeros(counts.shape), np.ones(counts.shape, dtype=bool)
    below = leaves
    while below > 1:
        below //= 2
        nodes = counts.reshape(trees, -1, below).sum(axis=2)
        alive &= np.repeat(nodes > math.sqrt(below) * stddev + 1, below, axis=1)
        lengths += alive
    return np.minimum(lengths + np.log2(np.where(alive, counts, 0.0) / (stddev + 1) + ~alive), LONGEST)


def usual_length(counts: Array, lengths: Array) -> float:
    """Post-processing: the mean path length of all records, in all trees."""
    mean = float(np.sum(counts * lengths)) / max(float(counts.sum()), 1.0)
    return float(np.clip(mean, SHORTEST, max(float(lengths.max()), SHORTEST)))


def length_below(released: Array, ends: Array, records: float) -> float:
    """Post-processing: the length that so many records stay below, by noisy counts between these ends.

    Examples
    --------
    >>> length_below(np.array([10.0, -2.0, 30.0]), np.array([0.0, 1.0, 2.0, 3.0]), 23.5)
    2.5
    """
    sums = np.concatenate([[0.0], np.cumsum(released)])
    rising = 0.5 * np.maximum.accumulate(sums) + 0.5 * np.minimum.accumulate(sums[::-1])[::-1]
    return float(np.interp(records, rising, ends))
