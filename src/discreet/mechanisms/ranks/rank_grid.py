"""A grid of cells between public bounds, and the distance of a rank on it from a target rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps, upwards
from discreet.core.neighbors import Neighbors

RANK = 2**28  # the unit that ranks are counted in: a share is rounded to a multiple of 1 / RANK
COARSE, FINER = 2**20, 2**6  # up to COARSE cells, there are FINER places from one to the next
AT_HAND = 2**16  # values that are processed together
FARTHEST = 2**40  # rows: more than any data set has


@dataclass(frozen=True)
class RankGrid:
    """Equal cells between public bounds.

    Parameters
    ----------
    lower, upper : float
        Public. What the first and the last cell stand for.
    cells : int
        Public. The number of steps from the one to the other.

    Examples
    --------
    >>> grid = RankGrid(0.0, 10.0, 20)
    >>> grid.values(grid.nearest(np.array([3.1, np.nan, 99.0])))
    array([ 3., 10.])
    """

    lower: float
    upper: float
    cells: int

    def __post_init__(self) -> None:
        if not (self.lower < self.upper and math.isfinite(self.upper - self.lower)):
            raise ParameterError("bounds", f"they are {self.lower} and {self.upper}", "Give the lower one first.")
        check_whole("bounds", "cells", self.cells, most=2**50)

    @property
    def finer(self) -> int:
        """The number of places from one cell to the next: 1 where cells are fine enough to stand for values."""
        return FINER if self.cells <= COARSE else 1

    def nearest(self, values: Array) -> Steps:
        """The cell of each value; missing ones are left out."""
        return self._rounded(values, self.cells)

    def places(self, values: Array) -> Steps:
        """The place of each value, that of cell i being i * finer; missing ones are left out.

        Examples
        --------
        >>> RankGrid(0.0, 10.0, 20).places(np.array([3.0, 3.1, 3.5])) / FINER
        array([6.      , 6.203125, 7.      ])
        """
        return self._rounded(values, self.cells * self.finer)

    def _rounded(self, values: Array, steps: int) -> Steps:
        known = there(values)
        out = np.empty(len(known), np.int64)
        for start in range(0, len(known), AT_HAND):
            near = self.rounded(known[start : start + AT_HAND], steps)
            out[start : start + AT_HAND] = np.clip(near, 0, steps, out=near)
        return out

    def rounded(self, values: Array, steps: int | None = None) -> Array:
        """The distance of values from the lower bound, rounded to cells, or to other equal steps between the bounds.

        As floats, which may lie beyond the bounds: no value is moved, and a missing one is nan.
        """
        with np.errstate(over="ignore"):
            shares = values - self.lower
            shares /= self.upper - self.lower
            shares *= self.cells if steps is None else steps
        return np.rint(shares, out=shares)

    def values(self, cells: Steps) -> Array:
        """What these cells stand for."""
        return np.minimum(self.lower + cells * ((self.upper - self.lower) / self.cells), self.upper)


def there(values: Array) -> Array:
    """The values that are not missing."""
    missing = np.isnan(values)
    return values[~missing] if missing.any() else values


@dataclass(frozen=True)
class Target:
    """The target rank, and the scale by which places get less likely; both in units of 1 / `RANK`.

    Parameters
    ----------
    q : float
        Public. In [0, 1].
    scale : float
        Public. A place that is this much farther off is e times less likely.
    """

    q: float
    scale: float

    @classmethod
    def priced(cls, q: float, epsilon: float, rows: int, neighbors: Neighbors, *, parted: bool = False) -> Target:
        """With the scale that costs epsilon; rounded up."""
        return cls(q, upwards(reach(q, neighbors, parted=parted) * rows / Fraction(epsilon)))

    @property
    def ranks(self) -> float:
        return self.scale / RANK

    def off(self, below: Steps, records: Steps | int) -> Steps:
        """How far the number of records below is above the target, among all records; negative where it is less."""
        return below * RANK - round(self.q * RANK) * np.asarray(records)


def reach(q: float, neighbors: Neighbors, *, parted: bool = False) -> int:
    """How much one row can change the difference of the scores of two places, in units of 1 / `RANK` (`quantile.md`).

    Parameters
    ----------
    q : float
        Public. In [0, 1].
    neighbors : Neighbors
        Public. The relation.
    parted : bool
        Public. Whether there are several parts of the records, of which a row may leave one and join another.
    """
    part = round(q * RANK)
    joined = RANK if part in (0, RANK) else 2 * max(part, RANK - part)
    if neighbors is Neighbors.ADD_REMOVE:
        return joined
    if parted:
        return 2 * joined
    return RANK if part in (0, RANK) else 2 * RANK


@dataclass(frozen=True)
class OrderStatistic:
    """The least value with at least this share of the values at or below it; the middle, if there are no values.

    Parameters
    ----------
    values : array of int64
        Sorted, from 0 to `top`.
    q : float
        Public. In [0, 1]; rounded to a multiple of 1 / `RANK`.
    top : int
        Public. The greatest value that there can be.

    Examples
    --------
    >>> OrderStatistic(np.array([1, 2, 6]), 0.5, 10).value
    2
    """

    values: Steps
    q: float
    top: int

    @property
    def _parts(self) -> int:
        """The share of all values, in units of 1 / `RANK`."""
        return round(self.q * RANK) * len(self.values)

    @property
    def rank(self) -> int:
        """The number of the value, from 1 on."""
        return min(max(-(-self._parts // RANK), 1), len(self.values))

    @property
    def value(self) -> int:
        return int(self.values[self.rank - 1]) if len(self.values) else self.top // 2

    def smooth_bound(self, beta: float) -> float:
        """The most that one row moves the value, here or in other data sets, discounted by their distance; at least 1.

        The maximum of (x[j] - x[i]) exp(-beta (j - i - 1)) over i <= r and j >= q * n, where r is the rank, x[0]
        and what is before is 0 and x[n + 1] and what is after is `top`: at least what one row can do, and at most
        e**beta times its value on any neighbor, under both relations (`smooth_sensitivity.md`). For the median of a
        public number of records it is the smooth sensitivity of Nissim, Raskhodnikova and Smith 2007.

        The best j for one i is at or after the best j for the i before, so both ends are searched by halves. The result
        is off by less than 2**-47 of itself.

        Examples
        --------
        >>> calm = OrderStatistic(np.arange(0, 101), 0.5, 100)
        >>> round(calm.smooth_bound(0.5), 3), calm.smooth_bound(50.0)
        (1.213, 1.0)
        """
        n, farthest = len(self.values), math.ceil(math.log(self.top) / beta) + 1
        first = -(-self._parts // RANK)
        last, padded = max(first, 1), np.concatenate([[0], self.values, [self.top]])
        start, stop = max(last - farthest - 1, 0), min(first + farthest + 1, n + 1) + 1
        lefts, rights = padded[start : last + 1], padded[first:stop]
        discounts = np.exp(-beta * np.arange(max(stop - start, 1)))
        return max(1.0, _farthest_apart(lefts, rights, first - start - 1, discounts))

    def between(self, apart: int) -> int:
        """The fewest values inside a window, as in `smooth_bound`, whose ends are farther apart than this.

        One row changes it by at most one; where it is above 0, one row moves the value no farther than `apart`.

        Examples
        --------
        >>> OrderStatistic(np.array([1, 2, 6, 7, 8]), 0.5, 10).between(4)
        1
        """
        first = -(-self._parts // RANK)
        padded, lefts = np.concatenate([[0], self.values, [self.top]]), np.arange(max(first, 1) + 1)
        rights = np.maximum(np.searchsorted(padded, padded[lefts] + apart, side="right"), first)
        inside = (rights - lefts - 1)[rights < len(padded)]
        return int(inside.min()) if len(inside) else FARTHEST


def _farthest_apart(lefts: Steps, rights: Steps, between: int, discounts: Array) -> float:
    """The greatest discounted distance; right j and left i have between + j - i values between them.

    For a fixed right end the discounted distance falls with the left end, the less the farther right it is: so a
    right end that is best for one left end beats all nearer ones for every later left end.
    """
    best, open_parts = 0.0, [(0, len(lefts), 0, len(rights))]
    while open_parts:
        start, stop, low, high = open_parts.pop()
        if start >= stop:
            continue
        middle = (start + stop) // 2
        j = np.arange(max(low, middle - between), high)
        if not len(j):
            open_parts.append((start, middle, low, high))
            continue
        apart = (rights[j] - lefts[middle]) * discounts[between + j - middle]
        place = int(np.argmax(apart))
        best = max(best, float(apart[place]))
        open_parts += [(start, middle, low, int(j[place]) + 1), (middle + 1, stop, int(j[place]), high)]
    return best
