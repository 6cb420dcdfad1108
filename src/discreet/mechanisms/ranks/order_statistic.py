"""An order statistic of places on a grid, and a smooth bound on how far one row can move it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.mechanisms.ranks.rank_grid import RANK

FARTHEST = 2**40  # rows: more than any data set has


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
