"""Counts of records by class and score: in cells that hold about as many records each, found privately first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.learners.selection.score_cells import FINE, Scored
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_between_of, contingency_of
from discreet.questions.tables.tree import Tree
from discreet.releases.joint_plan import Stage, StagedPlan, staged
from discreet.releases.spread import Spread, spread
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData

# Shares of the tree, and of the sides of the middle; the cells have 1. Where scores alone matter, sides have less.
QUANTILES, SIDES, FEW = 0.2, 0.2, 0.02
LOCAL = 2**6  # steps that people who trust nobody are asked for: each of them sends noise on all
MOST = 2**9  # cells by quantiles
MIDDLE = np.array([0, FINE // 2, FINE])  # steps between which scores stand for the first class, and for the second


@dataclass(frozen=True)
class ScoreCells:
    """Where the cells of a score end. Public, or released before.

    Parameters
    ----------
    edges : array
        The scores at their ends.
    alone : array of bool
        Which of them are a single step, so that all of their scores count as equal.
    below : int
        How many of them stand for the first class.
    """

    edges: Array
    alone: NDArray[np.bool_]
    below: int


@dataclass(frozen=True)
class ScoreTable:
    """Noisy counts, a row for each class.

    Parameters
    ----------
    counts : array of shape (classes, cells)
        By the cell of the score, or by the predicted class.
    cells : ScoreCells, optional
        The cells of the score; None where there are predicted classes.
    spread : Spread
        Public. Of the noise on each count.
    sides : ScoreSides, optional
        Other noisy counts of the same records, on either side of the middle; None where these are the cells.
    """

    counts: Array
    cells: ScoreCells | None
    spread: Spread
    sides: ScoreSides | None = None


@dataclass(frozen=True)
class ScoreSides:
    """Noisy counts of records by class, and by the class that they are put into, of two.

    Parameters
    ----------
    counts : array of shape (2, 2)
        A row for each class.
    spread : Spread
        Public. Of the noise on each count.
    """

    counts: Array
    spread: Spread


@dataclass(frozen=True)
class ScorePlan:
    """What is asked about classes and scores: a tree of scores, sides of the middle, and what is between quantiles.

    With two cells, or with predicted classes, the counts alone are asked.

    Parameters
    ----------
    scored : Scored
        The records as class and score.
    stages : StagedPlan
        Public. The noise of each question.
    bins : int, optional
        Public. How many quantiles divide the scores; by default as many as the smaller class allows.
    leaves : int
        Public. The leaves of the tree.
    tree : Tree, optional
        Public. The tree; None where the counts alone are asked.
    """

    scored: Scored
    stages: StagedPlan
    bins: int | None
    leaves: int
    tree: Tree | None

    @property
    def event(self) -> Event:
        """What it costs."""
        return self.stages.event

    @property
    def spread(self) -> Spread:
        """Of the noise on each count."""
        return self.stages.spreads[-1]

    def released(self, permit: Permit) -> ScoreTable:
        """Ask what was planned: every question may depend on the releases before it."""
        noises, classes = self.stages.mechanisms, len(self.scored.schema.category(self.scored.target).values)
        if not self.scored.numeric:
            counts = permit.ask(self.scored.asked(_predicted(self.scored)), noises[-1])
            return ScoreTable(counts.reshape(classes, -1), None, self.spread)
        steps, sides = MIDDLE, None
        if self.tree is not None:
            asked = self.tree.question(self.scored.schema, self.scored.score, self.leaves)
            leaves = self.tree.leaves_of(permit.ask(self.scored.asked(asked), noises[0]))[: self.leaves]
            each = permit.ask(self.scored.asked(_between(self.scored, MIDDLE)), noises[1]).reshape(classes, -1)
            sides = ScoreSides(each, self.stages.spreads[1])
            smaller = float(each.sum(axis=1).min())
            bins = most_bins(smaller, self.spread.stddev) if self.bins is None else self.bins
            steps = quantile_steps(leaves, bins) * (FINE // self.leaves)
        counts = permit.ask(self.scored.asked(_between(self.scored, steps)), noises[-1])
        return ScoreTable(counts.reshape(classes, -1), self._cells(steps), self.spread, sides)

    def _cells(self, steps: NDArray[np.intp]) -> ScoreCells:
        below = int(np.searchsorted(steps, FINE // 2))
        return ScoreCells(self.scored.score_at(_places(self.scored, steps)), np.diff(steps) == 1, below)


def score_plan(scored: Scored, data: PrivateData, bins: int | None, budget: Budget) -> ScorePlan:
    """The plan with the least noise that the budget pays for."""
    tree, leaves, stages = _stages(scored, data, bins, budget.delta > 0, SIDES)
    return ScorePlan(scored, staged(data, stages, budget), bins, leaves, tree)


def score_plan_with(scored: Scored, data: PrivateData, bins: int | None, noise: Laplace | Gaussian) -> ScorePlan:
    """The plan that costs what one release with this noise does: inverse multipliers, or their squares, add up."""
    normal = isinstance(noise, Gaussian)
    tree, leaves, stages = _stages(scored, data, bins, normal, FEW)
    shares = np.array([stage.share for stage in stages]) ** (1.0 if normal else 2 / 3)
    factors = np.sqrt(shares / shares.sum()) if normal else shares / shares.sum()
    parts = tuple(replace(noise, multiplier=noise.multiplier / factor) for factor in factors.tolist())
    spreads = tuple(spread(data, stage.question, part) for stage, part in zip(stages, parts, strict=True))
    return ScorePlan(scored, StagedPlan(parts, spreads=spreads), bins, leaves, tree)


def _stages(
    scored: Scored, data: PrivateData, bins: int | None, normal: bool, sides: float
) -> tuple[Tree | None, int, list[Stage]]:
    """The tree and its leaves, if there is one, and the questions."""
    if not scored.numeric or bins == 2:
        counts = _between(scored, MIDDLE) if scored.numeric else _predicted(scored)
        return None, 0, [Stage(scored.asked(counts), 1.0)]
    leaves = LOCAL if data.local else FINE
    tree = Tree.weighted(4, leaves, "l2") if normal else Tree.weighted(16, leaves, "l1")
    asked = (
        (tree.question(scored.schema, scored.score, leaves), QUANTILES),
        (_between(scored, MIDDLE), sides),
        (_between(scored, np.linspace(0, FINE, 33).astype(np.intp)), 1.0),
    )
    return tree, leaves, [Stage(scored.asked(question), share) for question, share in asked]


def most_bins(smaller: float, stddev: float) -> int:
    """So many quantiles that cells are about as coarse as noise is large: the power of 2/3 of records over noise.

    Noise moves an AUC by about 0.3 sqrt(bins) times its deviation over the records of the smaller class, and what is
    within the cells by 1 / (2 bins) at most.

    Examples
    --------
    >>> most_bins(400.0, 1.7), most_bins(1e6, 1.7), most_bins(-3.0, 1.7)
    (38, 512, 2)
    """
    return int(min(max((max(smaller, 0.0) / max(stddev, 1e-9)) ** (2 / 3), 2.0), MOST))


def quantile_steps(leaves: Array, bins: int) -> NDArray[np.intp]:
    """Where cells end that hold about 1 / bins of noisy counts in a row; the middle of the row; and where it is empty.

    A leaf that holds as much by itself is a cell by itself: so scores that are equal are seen to be equal. No cell is
    longer than 2 / bins of the row: where nearly no record is, its loss would be unknown.

    Examples
    --------
    >>> quantile_steps(np.array([0.0, 5.0, 5.0, 0.0, 80.0, 0.0, 5.0, 5.0]), 5)
    array([0, 4, 5, 8])
    """
    size = len(leaves)
    below = np.maximum.accumulate(np.maximum(np.cumsum(leaves), 0.0))
    whole = max(float(below[-1]), 1.0)
    ends = np.searchsorted(below, whole * np.arange(1, bins) / bins) + 1
    heavy = ends[leaves[np.minimum(ends, size) - 1] >= whole / bins] - 1
    even = np.linspace(0, size, max(bins // 2, 2) + 1).astype(np.intp)
    return np.unique(np.clip(np.concatenate([even, [size // 2], ends, heavy]), 0, size))


def _places(scored: Scored, steps: NDArray[np.intp]) -> Array:
    number = scored.schema.number(scored.score)
    return number.lower + (number.upper - number.lower) * (steps / FINE)


def _between(scored: Scored, steps: NDArray[np.intp]) -> BoundedSum:
    edges = tuple(_places(scored, steps).tolist())
    return contingency_between_of(scored.schema, scored.target, scored.score, edges)


def _predicted(scored: Scored) -> BoundedSum:
    return contingency_of(scored.schema, (scored.target, scored.score), (0, 0))
