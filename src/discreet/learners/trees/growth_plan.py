"""Three ways to grow a tree: from noisy counts and by the exponential mechanism, level by level, and at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.utils import check_random_state

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Event, Repeated
from discreet.core.grid import Array
from discreet.core.mechanism import Noise
from discreet.fitting.task import Task
from discreet.learners.trees.random_trees import Trees, drawn_trees
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import Exponential, PermuteAndFlip
from discreet.questions.question import BoundedSum
from discreet.questions.tables.domain import Domain
from discreet.questions.trees.forest_leaves import forest_leaves_of, node_marginals_of
from discreet.questions.trees.scores import (
    MOST_LABELLED,
    SCORES,
    Criterion,
    Scores,
    labelled_tree_scores_of,
    sides_of,
    split_scores_of,
)
from discreet.releases.joint_plan import JointPlan
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import spread
from discreet.trust.permit import Permit

MIDDLE = 0.15  # of the width of a feature, in the middle, where random cuts are: `lots` in benchmarks/tuning_trees.py
CANDIDATES = 256  # random trees, where as many with all their labels can be compared
ENOUGH = 16  # of them, below which shallower trees are better
# VARIED was raised after scores of the benchmark, and of the sets of `tests/learners/twins.py`, had been seen; `afresh`
# there finds none better on fresh sets.
VARIED = 2.0  # variance of shares around those of the node above, at least, times the number of leaves: `deep` there
LEAST = 1e-3  # share of a class in a leaf


@dataclass(frozen=True)
class Growth:
    """What is split: public cells of all features of a task, down to so many levels, by one criterion."""

    task: Task
    bins: int
    levels: int
    criterion: Criterion

    @property
    def root(self) -> Trees:
        return Trees(np.zeros((1, 0)), np.zeros((1, 0)))

    def marginals(self, tree: Trees, norm: Norm) -> BoundedSum:
        """The counts of all cells, class by class, in all nodes of the lowest level."""
        schema, features, target = self.task.schema, self.task.features, str(self.task.target)
        return node_marginals_of(schema, features, self.bins, target, tree.features, tree.cuts, norm)

    def scores(self, tree: Trees) -> Scores:
        """The scores of all cuts of all features, in all nodes of the lowest level."""
        schema, features, target = self.task.schema, self.task.features, str(self.task.target)
        size = self.task.data.public_size or 1
        return split_scores_of(schema, features, self.bins, target, tree.features, tree.cuts, self.criterion, size)

    def leaves(self, tree: Trees) -> BoundedSum:
        """The counts of all classes in all leaves."""
        schema, features, target = self.task.schema, self.task.features, str(self.task.target)
        return forest_leaves_of(schema, features, target, tree.features, tree.cuts, "l1")

    def check_size(self) -> None:
        """Refuse a tree whose last level has too many counts."""
        last = np.zeros((1, 2 ** (self.levels - 1) - 1))
        self.marginals(Trees(last, last), "l1")

    def split(self, tree: Trees, best: Any) -> Trees:
        """A tree with another level, whose nodes have these of all cuts of all features."""
        cells = Domain.of(self.task.schema, self.task.features, self.bins)
        edges = np.array([own for own in cells.edges if own is not None])
        chosen, cell = np.divmod(best, self.bins - 1)
        below = np.nextafter(edges[chosen, cell + 1], -np.inf)
        return Trees(np.append(tree.features, chosen)[None, :], np.append(tree.cuts, below)[None, :])


@dataclass(frozen=True)
class Grown:
    """A tree, and the share of each class in each of its leaves."""

    tree: Trees
    shares: Array


def leaf_shares(leaves: Array, stddev: float) -> Array:
    """The share of each class in each leaf, brought closer to that of the node above it, from the root down.

    How much shares vary around those of the node above is estimated for each level from all of its nodes: what sampling
    and noise add to that is known but for the number of records, which the noisy one stands for.

    Parameters
    ----------
    leaves : array of shape (n_leaves, n_classes)
        Released. The noisy counts.
    stddev : float
        Public. Of their noise.

    Examples
    --------
    >>> leaf_shares(np.array([[90.0, 10.0], [1.0, 0.0]]), 0.0).round(2)
    array([[0.9 , 0.1 ],
           [0.99, 0.01]])
    """
    counts = [leaves]
    while len(counts[0]) > 1:
        counts.insert(0, counts[0].reshape(len(counts[0]) // 2, 2, -1).sum(axis=1))
    found, least = np.full((1, leaves.shape[1]), 1 / leaves.shape[1]), VARIED / len(leaves)
    for own in counts:
        whole, noise = np.maximum(own.sum(axis=1, keepdims=True), 1e-9), stddev**2 * len(leaves) / len(own)
        above = np.repeat(found, len(own) // len(found), axis=0)
        apart, error = own / whole - above, above * (1 - above) / whole + noise / whole**2
        varied = np.average(np.square(apart) - error, weights=1 / np.square(least + error))
        kept = 1 / (1 + error / max(varied, least))
        found = np.maximum(above + kept * apart, LEAST)
        found /= found.sum(axis=1, keepdims=True)
    return found


class GrowthPlan(Protocol):
    """How a tree is grown, and what that costs."""

    @property
    def event(self) -> Event: ...

    def grow(self, permit: Permit) -> Grown: ...


@dataclass(frozen=True)
class FromCounts:
    """One release of counts for each level, all with the same noise; the last also fills the leaves."""

    growth: Growth
    noise: Noise
    norm: Norm

    @classmethod
    def of(cls, growth: Growth) -> FromCounts:
        """Calibrate the noise, in l1 or l2, whichever needs less."""
        task, levels = growth.task, growth.levels
        plans = [cls(growth, calibrate(Laplace(), task.budget, levels), "l1")]
        if task.budget.delta > 0:
            plans.append(cls(growth, calibrate(Gaussian(), task.budget, levels), "l2"))
        questions = {plan.norm: growth.marginals(growth.root, plan.norm) for plan in plans}
        return min(plans, key=lambda plan: spread(task.data, questions[plan.norm], plan.noise).stddev)

    @property
    def event(self) -> Event:
        """What all of them cost."""
        return Repeated(self.noise.event, self.growth.levels)

    def grow(self, permit: Permit) -> Grown:
        """Split all nodes of a level, then those of the next."""
        tree, leaves = self.growth.root, np.zeros((1, 0))
        for level in range(self.growth.levels):
            noisy = permit.ask(self.growth.marginals(tree, self.norm), self.noise)
            sides = sides_of(noisy.reshape(2**level, len(self.growth.task.features), self.growth.bins, -1))
            best = np.argmax(SCORES[self.growth.criterion](np.maximum(sides, 0.0)).reshape(2**level, -1), axis=1)
            leaves = sides.reshape(2**level, -1, *sides.shape[-2:])[np.arange(2**level), best]
            tree = self.growth.split(tree, best)
        own = spread(self.growth.task.data, self.growth.marginals(self.growth.root, self.norm), self.noise).stddev
        leaves = leaves.reshape(2**self.growth.levels, -1)
        return Grown(tree, leaf_shares(leaves, own * math.sqrt(self.growth.bins / 2)))


@dataclass(frozen=True)
class ByChoice:
    """One choice of all splits for each level, by the exponential mechanism, and counts for the leaves, all alike."""

    growth: Growth
    together: JointPlan

    @classmethod
    def of(cls, growth: Growth) -> ByChoice:
        """Equal shares of the budget for each level and for the leaves."""
        nodes = np.zeros((1, 2**growth.levels - 1))
        counts = least_noise(growth.task.data, growth.leaves(Trees(nodes, nodes)), Budget(1.0)).noise
        parts = (*(Exponential(1.0) for _ in range(growth.levels)), counts)
        return cls(growth, calibrate(JointPlan(parts), growth.task.budget))

    @property
    def event(self) -> Event:
        """What all of them cost."""
        return self.together.event

    def grow(self, permit: Permit) -> Grown:
        """Choose the splits of all nodes of a level, then those of the next; at last count in the leaves."""
        *choices, counts = self.together.mechanisms
        growth, tree = self.growth, self.growth.root
        for choice in choices:
            tree = growth.split(tree, permit.ask(growth.scores(tree), choice))
        question = growth.leaves(tree)
        noisy = permit.ask(question, counts).reshape(2**growth.levels, -1)
        return Grown(tree, leaf_shares(noisy, spread(growth.task.data, question, counts).stddev))


@dataclass(frozen=True)
class AtRandom:
    """Public random splits; all of the budget is for the counts in the leaves."""

    growth: Growth
    noise: Noise
    random_state: Any

    @classmethod
    def of(cls, growth: Growth, random_state: Any) -> AtRandom:
        """Calibrate the noise on the leaves, in l1."""
        nodes = np.zeros((1, 2**growth.levels - 1))
        counts = least_noise(growth.task.data, growth.leaves(Trees(nodes, nodes)), growth.task.budget)
        return cls(growth, counts.noise, random_state)

    @property
    def event(self) -> Event:
        """What the leaves cost."""
        return self.noise.event

    def grow(self, permit: Permit) -> Grown:
        """Draw the splits, and count in the leaves."""
        rng = check_random_state(permit.random_state(self.random_state))
        tree, leaves = drawn_trees(self.growth.task, rng, 1, self.growth.levels, MIDDLE), 2**self.growth.levels
        question = self.growth.leaves(tree)
        noisy = permit.ask(question, self.noise).reshape(leaves, -1)
        return Grown(tree, leaf_shares(noisy, spread(self.growth.task.data, question, self.noise).stddev))


def labelled_levels(classes: int) -> int:
    """How deep labelled trees of so many classes are: two levels, or one, or none where there are too many."""
    return sum(ENOUGH * classes ** (2**level) <= MOST_LABELLED for level in (1, 2))


@dataclass(frozen=True)
class LabelledTree:
    """Public random trees, and every choice of a class for each of their leaves: one of all these is chosen.

    A choice of the splits first, and of the classes then, would pay for both; here the whole budget pays for the number
    of records that a tree with its labels classifies right.
    """

    growth: Growth
    choice: PermuteAndFlip
    random_state: Any

    @classmethod
    def of(cls, growth: Growth, random_state: Any) -> LabelledTree:
        """Calibrate the choice, by permute-and-flip, to the whole budget."""
        classes, leaves = growth.task.classes, 2**growth.levels
        if classes**leaves > MOST_LABELLED:
            raise ParameterError(
                "decision tree",
                f"{leaves} leaves can be labelled with {classes} classes in more than {MOST_LABELLED:,} ways",
                'Give a smaller max_depth, or another method: "exponential" or "random".',
            )
        return cls(growth, calibrate(PermuteAndFlip(), growth.task.budget), random_state)

    @property
    def event(self) -> Event:
        """What the choice costs."""
        return self.choice.event

    def grow(self, permit: Permit) -> Grown:
        """Draw the trees, and choose; the class of a leaf is taken to be twice as likely as any other."""
        task, leaves = self.growth.task, 2**self.growth.levels
        labels = task.classes**leaves
        rng = check_random_state(permit.random_state(self.random_state))
        trees = drawn_trees(task, rng, min(CANDIDATES, MOST_LABELLED // labels), self.growth.levels, MIDDLE)
        scores = labelled_tree_scores_of(task.schema, task.features, str(task.target), trees.features, trees.cuts)
        tree, own = divmod(int(permit.ask(scores, self.choice)[0]), labels)
        classes = np.array(np.unravel_index(own, (task.classes,) * leaves))
        shares = (1 + np.eye(task.classes)[classes]) / (1 + task.classes)
        return Grown(Trees(trees.features[[tree]], trees.cuts[[tree]]), shares)
