"""How a forest is paid for and grown: cells that cuts are drawn by, choices of splits, counts in leaves, and scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.events import Composed, Event, Repeated
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.trees.cut_scale import CELLS, ROUGH, CutScale
from discreet.learners.trees.random_trees import ForestPlan, Trees, sample_question
from discreet.learners.trees.score_calibration import CELLS as SCORE_CELLS
from discreet.learners.trees.score_calibration import Calibration
from discreet.mechanisms.selection.exponential import Exponential
from discreet.questions.columns.column_cells import column_cells_of
from discreet.questions.question import BoundedSum
from discreet.questions.trees.forest_scores import (
    class_shares,
    forest_scores_of,
    leaf_excess,
    score_middles,
)
from discreet.questions.trees.scores import candidate_scores_of
from discreet.releases.joint_plan import JointPlan, priced
from discreet.releases.least_noise import SumPlan, planned
from discreet.releases.spread import spread
from discreet.trust.permit import Permit

# Of the information that is paid for, in proportion: `forests` in benchmarks/tuning_trees.py.
SHARES = {"cells": 0.06, "choices": 0.6, "counts": 0.9, "scores": 0.05}
MORE = 3.0  # noises that are added to the count of a leaf, so that a leaf of noise says little
SHARPER = 4.0  # since random splits leave more of other classes in a leaf than there are around a row
# HEARD, and that shares of a pure epsilon are these, were settled after scores of the benchmark had been seen; `afresh`
# there finds no better HEARD on fresh sets.
HEARD = 0.1  # of all records, the noise on the number of those on one side of a score, up to which it is asked
NORMS: tuple[Norm, Norm] = ("l1", "l2")


@dataclass(frozen=True)
class StagedForest:
    """What is asked, one after the other, and with which noise.

    Parameters
    ----------
    cells : SumPlan or None
        Public. The counts in cells of features; None where cuts are by width alone.
    choice : Exponential or None
        Public. It chooses the splits of all nodes of a level of one tree; None where splits are random.
    candidates : int
        Public. The number of random splits that each is chosen from.
    counts : ForestPlan
        Public. The trees, and the noise on the counts in their leaves.
    scores : SumPlan or None
        Public. The counts of scores by class; None where noise would drown them.
    event : Event
        Public. What all of it costs.
    """

    cells: SumPlan | None
    choice: Exponential | None
    candidates: int
    counts: ForestPlan
    scores: SumPlan | None
    event: Event

    @classmethod
    def of(cls, task: Task, n: int, forest: ForestPlan, candidates: int) -> StagedForest:
        """Share the budget, where n records are expected."""
        cells, scores = _cells(task, n), _scores(task, n, forest)
        times = forest.trees * forest.depth if candidates > 1 else 0
        noises: dict[str, Any] = {"cells": cells.spread.noise} if cells else {}
        noises |= {"choices": calibrate(Exponential(), task.budget, times)} if times else {}
        noises |= {"counts": forest.spread.noise} | ({"scores": scores.spread.noise} if scores else {})
        whole = sum(SHARES[name] for name in noises)
        parts = {name: priced(noise, _part(task, SHARES[name] / whole)) for name, noise in noises.items()}
        every = [part for name, part in parts.items() for _ in range(times if name == "choices" else 1)]
        together = calibrate(JointPlan(tuple(every)), task.budget)
        paid = {name: priced(part, together.epsilon) for name, part in parts.items()}
        question = sample_question(task, forest.trees, forest.depth, forest.norm)
        counts = ForestPlan(forest.trees, forest.depth, forest.norm, spread(task.data, question, paid["counts"]))
        cells, scores = (_repriced(task, one, paid.get(name)) for one, name in ((cells, "cells"), (scores, "scores")))
        events = [Repeated(part.event, times) if name == "choices" else part.event for name, part in paid.items()]
        return cls(cells, paid.get("choices"), candidates, counts, scores, Composed(tuple(events)))

    @property
    def more(self) -> float:
        """Records that are added to a leaf."""
        return max(MORE * self.counts.spread.stddev, 2.0**-20)

    def grown(self, task: Task, permit: Permit, rng: np.random.RandomState) -> Trees:
        """The trees, whose splits are random or chosen from a few random ones."""
        scale = CutScale.even(task)
        if self.cells is not None:
            noisy = permit.ask(self.cells.question, self.cells.spread.noise)
            scale = CutScale.of(task, noisy.reshape(len(task.features), -1))
        if self.choice is None:
            return scale.drawn(rng, self.counts.trees, self.counts.depth)
        every = [self._chosen(task, permit, rng, scale, self.choice) for _ in range(self.counts.trees)]
        features, cuts = np.concatenate([np.stack([tree.features, tree.cuts]) for tree in every], axis=1)
        return Trees(features, cuts)

    def _chosen(
        self, task: Task, permit: Permit, rng: np.random.RandomState, scale: CutScale, choice: Exponential
    ) -> Trees:
        """One tree, level by level: for each node the best of some random splits."""
        splits = np.zeros((2, 1, 0))
        for level in range(self.counts.depth):
            above = np.repeat(splits, self.candidates, axis=1)
            drawn = scale.candidates(rng, above, level)
            every = np.append(above, drawn, axis=2)
            asked = candidate_scores_of(task.schema, task.features, str(task.target), every[0], scale.cuts(every))
            best = permit.ask(asked, choice)
            splits = np.append(splits, drawn[:, None, best, np.arange(2**level)], axis=2)
        return Trees(splits[0], scale.cuts(splits))

    def calibration(self, task: Task, permit: Permit, trees: Trees, noisy: Array) -> Calibration:
        """What makes probabilities of scores."""
        shares = class_shares(noisy)
        if self.scores is None:
            return Calibration.usual(shares, usual_slope(noisy, self.counts.spread.stddev))
        unit = self._unit(noisy, shares)
        question = _score_question(
            task, trees, noisy.reshape(len(noisy), -1), self.more, unit, self.scores.question.bound.norm
        )
        counts = permit.ask(question, self.scores.spread.noise).reshape(-1, SCORE_CELLS, 2)
        slope, middles = usual_slope(noisy, self.counts.spread.stddev), score_middles(SCORE_CELLS, unit)
        return Calibration.of(shares, slope, counts, middles, self.scores.spread.stddev)

    def _unit(self, noisy: Array, shares: Array) -> float:
        """A usual excess of a tree: the root of its mean square, by the records of each leaf, with the noise in it."""
        excess, whole = leaf_excess(noisy, shares, self.more), np.maximum(noisy.sum(axis=2, keepdims=True), 0.0)
        mean = float((np.square(excess) * whole).sum()) / max(float(whole.sum()) * noisy.shape[2], 1.0)
        return min(max(math.sqrt(mean), 1e-4), 1.0)


def usual_slope(noisy: Array, stddev: float) -> float:
    """How much more a class is usually apart than its excess in leaves says, since noise has held that down.

    A record is usually in a leaf of sum w^2 / sum w records, if leaves hold w; what noise adds to squares is known.
    """
    whole, n = noisy.sum(axis=2), max(float(noisy.sum()), 1.0)
    usual = max((float(np.square(whole).sum()) - noisy.size * stddev**2) / n, n / whole.size)
    return SHARPER * (usual + MORE * stddev) / usual


def _cells(task: Task, n: int) -> SumPlan | None:
    """The most cells whose counts tell quantiles well enough; None where even a few do not."""
    for cells in CELLS:
        plan = planned(
            task.data, task.budget, *(column_cells_of(task.schema, task.features, cells, norm) for norm in NORMS)
        )
        if plan.spread.stddev * math.sqrt(cells) <= ROUGH * n * _part(task, SHARES["cells"]):
            return plan
    return None


def _scores(task: Task, n: int, forest: ForestPlan) -> SumPlan | None:
    """The question about scores, before the trees and the counts are known: these do not matter for its price."""
    nodes, leaves = (
        np.zeros((forest.trees, 2**forest.depth - 1)),
        np.zeros((forest.trees, 2**forest.depth * task.classes)),
    )
    empty = Trees(nodes, nodes)
    plan = planned(task.data, task.budget, *(_score_question(task, empty, leaves, 1.0, 1.0, norm) for norm in NORMS))
    heard = plan.spread.stddev * math.sqrt(SCORE_CELLS) <= HEARD * n * _part(task, SHARES["scores"])
    return plan if heard else None


def _score_question(task: Task, trees: Trees, counts: Array, more: float, unit: float, norm: Norm) -> BoundedSum:
    target = str(task.target)
    return forest_scores_of(
        task.schema, task.features, target, trees.features, trees.cuts, counts, more, unit, SCORE_CELLS, norm
    )


def _part(task: Task, share: float) -> float:
    """What noise is divided by at this share: squares of Gaussian noise are inverse to shares, as is Laplace noise."""
    return math.sqrt(share) if task.budget.delta > 0 else share


def _repriced(task: Task, plan: SumPlan | None, noise: Any) -> SumPlan | None:
    return None if plan is None else SumPlan(plan.question, spread(task.data, plan.question, noise))
