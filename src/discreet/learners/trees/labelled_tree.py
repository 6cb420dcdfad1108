"""A tree with its labels, chosen at once from all labelled ones of many random trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from discreet.accounting.calibration import calibrate
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.learners.trees.grown_tree import MIDDLE, Grown, Growth
from discreet.learners.trees.random_trees import Trees, drawn_trees
from discreet.mechanisms.selection.exponential import PermuteAndFlip
from discreet.questions.trees.scores import MOST_LABELLED, labelled_tree_scores_of
from discreet.trust.permit import Permit

CANDIDATES = 256  # random trees, where as many with all their labels can be compared
ENOUGH = 16  # of them, below which shallower trees are better


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
        """By permute-and-flip, with the whole budget."""
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
        """Draw the trees, and choose; one record stands for a class that is known alone."""
        task, leaves = self.growth.task, 2**self.growth.levels
        labels = task.classes**leaves
        rng = check_random_state(permit.random_state(self.random_state))
        trees = drawn_trees(task, rng, min(CANDIDATES, MOST_LABELLED // labels), self.growth.levels, MIDDLE)
        scores = labelled_tree_scores_of(task.schema, task.features, str(task.target), trees.features, trees.cuts)
        tree, own = divmod(int(permit.ask(scores, self.choice)[0]), labels)
        classes = np.array(np.unravel_index(own, (task.classes,) * leaves))
        return Grown(Trees(trees.features[[tree]], trees.cuts[[tree]]), np.eye(task.classes)[classes])
