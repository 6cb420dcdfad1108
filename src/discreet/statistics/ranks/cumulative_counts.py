"""Cumulative counts of cells in a row, from a noisy tree of counts, and the quantiles that are read off them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.questions.tables.tree import Tree
from discreet.schema.schema import Number


@dataclass(frozen=True)
class RankPlace:
    """A point inside a cell: where it would be if values lay evenly there; and the ends of the cell."""

    low: float
    inside: float
    high: float


@dataclass(frozen=True)
class CumulativeCounts:
    """What noisy counts on a tree show about a distribution: post-processing.

    Parameters
    ----------
    tree : Tree
        Public. What was measured.
    leaves : array
        The least squares estimates of the counts of its leaves; see `Tree.leaves_of`.
    ends : Number
        Public. The ends of the line that is divided into cells.

    Examples
    --------
    >>> found = CumulativeCounts(Tree.even(16, 2, "l1"), np.full(256, 10.0), Number(0, 1))
    >>> found.number, round(found.quantile(0.3), 6)
    (2560.0, 0.3)
    """

    tree: Tree
    leaves: Array
    ends: Number

    @property
    def number(self) -> float:
        """The number of all values: as noisy as the rest, so it may be negative."""
        return float(self.leaves.sum())

    def quantile(self, q: float) -> float:
        """Where the number of values below passes this share of all."""
        return self.place(q * max(self.number, 0.0)).inside

    def place(self, rank: float) -> RankPlace:
        """Where the number of values below passes a rank.

        Numbers below that fall, by noise, are replaced by the middle between the largest so far and the least to come.
        """
        below = np.concatenate([[0.0], np.cumsum(self.leaves)])
        rising = (np.maximum.accumulate(below) + np.minimum.accumulate(below[::-1])[::-1]) / 2
        last = int(np.clip(np.searchsorted(rising, rank), 1, len(below) - 1))
        before, after = float(rising[last - 1]), float(rising[last])
        part = min(max((rank - before) / max(after - before, 1e-300), 0.0), 1.0)
        edges = np.linspace(self.ends.lower, self.ends.upper, len(below))
        low, high = float(edges[last - 1]), float(edges[last])
        if not rising[0] < rank < rising[-1]:
            low = high = float(self.ends.lower if rank <= rising[0] else self.ends.upper)
        return RankPlace(low, low + part * (high - low), high)

    def deviation(self, value: float, q: float) -> float:
        """Of the number of values below a value less this share of all, for noise of deviation one."""
        place = (value - self.ends.lower) / (self.ends.upper - self.ends.lower) * len(self.leaves)
        return math.sqrt(self.tree.variance((np.arange(len(self.leaves)) < place).astype(np.float64) - q))
