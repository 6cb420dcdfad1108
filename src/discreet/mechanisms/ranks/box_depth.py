"""A point in the middle of all columns at once, by the exponential mechanism on its depth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.events import Event
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.ranks.rank_grid import RankGrid
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.choice import uniform_below
from discreet.noise.error_bars import assure
from discreet.noise.noisy_argmax import gumbel_argmax

assure("log")
COLUMNS = 64  # at most
MARGIN, GRAIN = 2.0**-21, 2.0**-32  # of epsilon, and beside it, what rounded scores may cost: `box_depth.md`


@dataclass(frozen=True)
class BoxDepth(CheckedParameters):
    """Release a point that has many rows on both sides of it, in every column.

    The depth of a point is the least number of rows that are at or below it, or at or above it, in any single column
    (Tukey's depth, where only the columns' own directions count). Points of depth k or more fill a box. P(y) is in
    proportion to exp(epsilon depth / reach), with a reach of one row of 1 where rows join and leave, and of 2 where
    they are replaced. One release of all columns costs no more than one of a single column: a row changes
    the depth by one, for any number of columns.

    Parameters
    ----------
    epsilon : float
        Public.
    lower, upper : float
        Public. Values outside are moved to the nearer one, in every column.
    cells : int
        Public. The number of grid steps from one to the other. Releases are on this grid.

    Guarantee
    ---------
    The event of `Exponential(epsilon)`. McSherry and Talwar 2007, Theorem 6; Cesar and Rogers 2021, Lemma 3.4. The
    score is that of Amin, Joseph, Ribero and Vassilvitskii 2022; since the grid has public ends, no test is needed
    before. For the reach of one row and the rounding of scores see `box_depth.md`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rows = np.stack([np.arange(1000.0), 1000 - np.arange(1000.0) / 10], axis=1)
    >>> BoxDepth(2.0).release(Records(rows, 1, Neighbors.ADD_REMOVE), DeterministicBits(1))
    array([499., 950.])
    """

    epsilon: float = 1.0
    lower: float = 0.0
    upper: float = 1024.0
    cells: int = 1024
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("BoxDepth", "epsilon", self.epsilon)
        RankGrid(self.lower, self.upper, self.cells)

    @property
    def event(self) -> Event:
        return Exponential(self.epsilon).event

    def steepness(self, neighbors: Neighbors) -> float:
        """How fast the logarithm of the probability grows with the depth, counted in units."""
        return max(self.epsilon * (1 - MARGIN) - GRAIN, 0.0) / neighbors.reach

    def release(self, answer: Records, bits: Bits) -> Array:
        """A point on the grid; one for each copy. Rows with a missing value do not count."""
        check_whole("BoxDepth", "number of columns", answer.values.shape[1], most=COLUMNS)
        grid, copies = RankGrid(self.lower, self.upper, self.cells), math.prod(answer.copies)
        rows = answer.values[~np.isnan(answer.values).any(axis=1)]
        boxes = Boxes.of(grid.nearest(rows.ravel()).reshape(rows.shape), self.cells, answer.rows)
        scores = boxes.scores(self.steepness(answer.neighbors), self.cells)
        chosen = gumbel_argmax(bits, np.broadcast_to(scores, (copies, len(scores))), 1.0)
        low, sides = boxes.low[chosen], boxes.high[chosen] - boxes.low[chosen] + 1
        points = low + uniform_below(bits, sides.ravel()).reshape(low.shape)
        return grid.values(points).reshape(*answer.copies, -1)

    def worst_neighbors(self) -> NeighborPair:
        """Most of the grid is between two rows, and a third row adds the rest."""
        low, inner, high = np.array([[self.lower], [self.lower + 0.9 * (self.upper - self.lower)], [self.upper]])
        first, second = np.stack([low, inner]), np.stack([low, inner, high])
        return NeighborPair(*(Records(rows, 1, Neighbors.ADD_REMOVE) for rows in (first, second)))


@dataclass(frozen=True)
class Boxes:
    """Where the points of depth 0, 1, 2, ... and more are: boxes, each inside the one before.

    Parameters
    ----------
    low, high : array of int64, shape (levels, columns)
        The first and the last cell of each box in each column.
    """

    low: Steps
    high: Steps

    @classmethod
    def of(cls, cells: Steps, top: int, rows: int) -> Boxes:
        """The boxes of rows in these cells of a grid from 0 to `top`; depth is counted in units of `rows` rows."""
        ordered, number = np.sort(cells, axis=0), len(cells)
        depths = rows * np.arange(1, number // rows + 1)
        low, high = ordered[depths - 1], ordered[number - depths]
        there = (low <= high).all(axis=1)
        whole = np.zeros((1, cells.shape[1]), dtype=np.int64)
        return cls(np.concatenate([whole, low[there]]), np.concatenate([whole + top, high[there]]))

    def scores(self, steepness: float, top: int) -> Array:
        """The logarithm of the probability of each box, up to a constant, if a point is then drawn uniformly from it.

        A point of depth k is in the boxes 0 to k, and 1 + sum of (exp(s i) - exp(s (i - 1))) over i = 1 to k is
        exp(s k): so box i has a weight of exp(s i) (1 - exp(-s)) for each of its points, and box 0 one of 1.
        """
        depths, part = np.arange(len(self.low)), -math.expm1(-steepness)
        sizes = np.log((self.high - self.low + 1) / (top + 1)).sum(axis=1)
        return sizes + steepness * depths + np.where(depths > 0, math.log(part) if part else -math.inf, 0.0)
