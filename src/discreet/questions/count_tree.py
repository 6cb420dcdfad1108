"""Noisy counts on a tree of cells, and the distribution that fits all of them best: quantiles from sums alone.

A value is counted in its cell on every level of a tree of 16 branches. Far fewer noisy counts add up to the number of
values below a point than there are cells below it. The counts of a cell's branches and that of the cell itself do not
agree, each having noise of its own; least squares uses them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema

BRANCHES = 16
MOST_LEVELS = 4
INSIDE = 1 - 2.0**-40


def tree_size(levels: int) -> int:
    """How many cells there are, on all levels."""
    return sum(BRANCHES**level for level in range(1, levels + 1))


@recipe("count_tree")
def tree_of(schema: Schema, column: str, levels: int, norm: Norm) -> BoundedSum:
    """One mark on each level, in the cell of each value; the coarsest level first. The bound is in this norm."""
    number = schema.number(column)
    if not 1 <= levels <= MOST_LEVELS or levels != int(levels) or norm not in ("l1", "l2"):
        raise ParameterError("tree of counts", f"it has {levels} levels, bounded in {norm}", "Give 1 to 4; l1 or l2.")
    leaves, sizes = BRANCHES**levels, [BRANCHES**level for level in range(1, levels + 1)]
    width = number.upper - number.lower

    def places(records: Array) -> Array:
        shares = np.clip((records[:, 0] - number.lower) / width, 0.0, INSIDE)
        return np.floor(shares * leaves)

    def of(records: Array) -> Array:
        finest = places(records)[:, None]
        return np.hstack([np.floor(finest / (leaves // size)) == np.arange(size) for size in sizes]).astype(np.float64)

    def total(records: Array) -> Array:
        found = places(records)
        marks = np.bincount(found[~np.isnan(found)].astype(np.intp), minlength=leaves)
        return np.concatenate([marks.reshape(size, -1).sum(axis=1) for size in sizes]).astype(np.float64)

    radius = float(levels) if norm == "l1" else math.sqrt(levels) * (1 + 2.0**-50)
    return BoundedSum(of, Bound(norm, radius, nonnegative=True), (column,), Grid(0), total)


@dataclass(frozen=True)
class Place:
    """A point inside a cell: where it would be if values lay evenly there; and the ends of the cell."""

    low: float
    inside: float
    high: float


@dataclass(frozen=True)
class CountTree:
    """What noisy counts on a tree say about a distribution: post-processing.

    Parameters
    ----------
    counts : array
        Noisy counts, the coarsest level first, all with the same deviation.
    lower, upper : float
        Public. The ends of the line that is divided into cells.

    Examples
    --------
    >>> tree = CountTree(np.concatenate([np.full(16, 160.0), np.full(256, 10.0)]), 0.0, 1.0)
    >>> tree.number, round(tree.quantile(0.3), 6)
    (2560.0, 0.3)
    """

    counts: Array
    lower: float
    upper: float

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return next(levels for levels in range(1, MOST_LEVELS + 1) if tree_size(levels) == len(self.counts))

    def leaves(self) -> Array:
        """The counts of the finest cells that fit all counts best, by least squares.

        With A the matrix that adds leaves up to the cells of all levels, these are (A'A)^-1 A' counts. On what is the
        same for all leaves of a cell of level k, and adds up to zero in the cell above, A'A is the number of leaves in
        a cell, summed over level k and all finer ones. (Hay, Rastogi, Miklau and Suciu 2010 get there by recursion.)
        """
        parts = np.split(self.counts, np.cumsum([BRANCHES**level for level in range(1, self.levels)]))
        marked = sum(np.repeat(part, BRANCHES**self.levels // len(part)) for part in parts)
        return sum((layer / factor for layer, factor in self._layers(np.asarray(marked))), np.zeros_like(marked))

    def variance(self, weights: Array) -> float:
        """Of a weighted sum of leaves, for noise of variance one."""
        return sum(float(np.square(layer).sum()) / factor for layer, factor in self._layers(weights))

    def _layers(self, leaves: Array) -> list[tuple[Array, float]]:
        """The part of each level that coarser ones do not have, and the number that A'A multiplies it with."""
        layers, before, finest = [], np.zeros_like(leaves), BRANCHES**self.levels
        for level in range(1, self.levels + 1):
            cells = leaves.reshape(BRANCHES**level, -1).mean(axis=1)
            here = np.repeat(cells, finest // len(cells))
            factor = sum(BRANCHES ** (self.levels - finer) for finer in range(level, self.levels + 1))
            layers.append((here - before, float(factor)))
            before = here
        return layers

    @property
    def number(self) -> float:
        """The number of all values: as noisy as the rest, so it may be negative."""
        return float(self.leaves().sum())

    def quantile(self, share: float) -> float:
        """Where the number of values below passes this share of all."""
        return self.place(share * max(self.number, 0.0)).inside

    def place(self, rank: float) -> Place:
        """Where the number of values below passes a rank.

        Numbers below that fall, by noise, are replaced by the middle between the largest so far and the least to come.
        """
        below = np.concatenate([[0.0], np.cumsum(self.leaves())])
        rising = (np.maximum.accumulate(below) + np.minimum.accumulate(below[::-1])[::-1]) / 2
        last = int(np.clip(np.searchsorted(rising, rank), 1, len(below) - 1))
        before, after = float(rising[last - 1]), float(rising[last])
        part = min(max((rank - before) / max(after - before, 1e-300), 0.0), 1.0)
        edges = np.linspace(self.lower, self.upper, len(below))
        low, high = float(edges[last - 1]), float(edges[last])
        if not rising[0] < rank < rising[-1]:
            low = high = self.lower if rank <= rising[0] else self.upper
        return Place(low, low + part * (high - low), high)

    def deviation(self, value: float, share: float) -> float:
        """Of the number of values below a value less this share of all, for noise of deviation one."""
        leaves = BRANCHES**self.levels
        place = (value - self.lower) / (self.upper - self.lower) * leaves
        return math.sqrt(self.variance((np.arange(leaves) < place).astype(np.float64) - share))
