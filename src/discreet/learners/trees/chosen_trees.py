"""A few trees for a few records: each is chosen from many random ones, by how well it separates the classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.events import Composed, Event, Repeated
from discreet.fitting.task import Task
from discreet.learners.trees.random_trees import ForestPlan, Trees, drawn_trees, sample_question
from discreet.mechanisms.selection.exponential import PermuteAndFlip
from discreet.questions.trees.scores import leaf_counts_of, tree_scores_of
from discreet.releases.least_noise import least_noise
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: `chosen` in benchmarks/tuning_trees.py. It says that FEW is between 140 and 400; a score of the
# benchmark had been seen when 300 was taken.
CANDIDATES = 512
SHALLOW = 3  # levels, and as many as there are classes need
FEW = 300.0  # records times epsilon, over the reach of the neighbors, below which a single tree is best
SOME = 4  # trees, beyond that
SHARE = 0.5  # of epsilon, for the choice


@dataclass(frozen=True)
class ChosenPlan:
    """How many trees are chosen, from how many each, and what their leaves are filled from; no delta is paid.

    Parameters
    ----------
    candidates : int
        Public. The number of random trees that each is chosen from.
    choice : PermuteAndFlip
        Public. It chooses a tree, and the class of each leaf of a single tree.
    counts : ForestPlan
        Public. The noise on the counts in the leaves of several trees.
    """

    candidates: int
    choice: PermuteAndFlip
    counts: ForestPlan

    @property
    def trees(self) -> int:
        """How many trees."""
        return self.counts.trees

    @property
    def event(self) -> Event:
        """What the fit costs: a choice for each tree, and what fills the leaves."""
        if self.trees == 1:
            return Repeated(self.choice.event, 2)
        return Composed((Repeated(self.choice.event, self.trees), self.counts.event))


def chosen_plan(task: Task, n: int, trees: int | None, depth: int | None, candidates: int | None) -> ChosenPlan:
    """As many trees as are given; else one, or some where n records and epsilon allow to choose several well."""
    several = n * task.budget.epsilon >= FEW * task.data.neighbors.reach
    trees = (SOME if several else 1) if trees is None else int(trees)
    classes = task.classes
    depth = max(SHALLOW, (classes - 1).bit_length()) if depth is None else int(depth)
    choice = calibrate(PermuteAndFlip(), Budget(SHARE * task.budget.epsilon), trees)
    filling = Budget((1 - SHARE) * task.budget.epsilon)
    counts = least_noise(task.data, sample_question(task, trees, depth, "l1"), filling)
    return ChosenPlan(int(candidates or CANDIDATES), choice, ForestPlan(trees, depth, "l1", counts))


def chosen_trees(task: Task, plan: ChosenPlan, permit: Permit, rng: np.random.RandomState) -> Trees:
    """The trees that are chosen, one after the other, each from candidates of its own."""
    chosen = []
    for _ in range(plan.trees):
        drawn = drawn_trees(task, rng, plan.candidates, plan.counts.depth)
        scores = tree_scores_of(task.schema, task.features, str(task.target), drawn.features, drawn.cuts)
        best = permit.ask(scores, plan.choice)
        chosen.append(np.stack([drawn.features[best], drawn.cuts[best]]))
    features, cuts = np.concatenate(chosen, axis=1)
    return Trees(features, cuts)


def labelled(task: Task, plan: ChosenPlan, permit: Permit, trees: Trees) -> Artefact:
    """A single tree, whose leaves each stand for one class."""
    counts = leaf_counts_of(task.schema, task.features, str(task.target), trees.features, trees.cuts)
    classes = permit.ask(counts, plan.choice)
    marks = np.eye(task.classes)[classes]
    return {"features_": trees.features, "cuts_": trees.cuts, "leaf_values_": marks[None]}
