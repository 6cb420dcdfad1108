"""Records that are alike in some columns, and how the values of another column are spread among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.grid import Array, Steps

MOST = 2**62  # of a number that stands for the values of several columns


@dataclass(frozen=True)
class Ranked:
    """A column by ranks: equal values have equal ones, and missing values one of their own, behind all others.

    Parameters
    ----------
    codes : array of int64, shape (n,)
        The rank of each value among those that occur.
    values : array of shape (m,)
        The values that occur, ascending; the missing one is not among them.
    missing : bool
        Whether a value is missing: its code is m.

    Examples
    --------
    >>> Ranked.of(np.array([7.5, np.nan, -1.0, 7.5])).codes
    array([1, 2, 0, 1])
    """

    codes: Steps = field(repr=False)
    values: Array = field(repr=False)
    missing: bool

    @classmethod
    def of(cls, column: Array) -> Ranked:
        """The ranks of numbers, or of places in a list."""
        absent = np.isnan(column)
        missing = bool(absent.any())
        there = column[~absent] if missing else column
        values, own = _unique(there)
        codes = np.full(len(column), len(values), np.int64)
        codes[~absent] = own
        return cls(codes, values, missing)

    @property
    def count(self) -> int:
        """How many values are distinguished."""
        return len(self.values) + self.missing


def _unique(column: Array) -> tuple[Array, Steps]:
    """Values that occur and the place of each: without sorting, where they are whole numbers close together."""
    if column.size and column.max() - column.min() <= 4 * column.size + 1024:
        low = np.floor(column.min())
        places = (column - low).astype(np.int64)
        if np.array_equal(places + low, column):
            occurs = np.bincount(places) > 0
            return np.flatnonzero(occurs) + low, (np.cumsum(occurs) - 1)[places]
    values, own = np.unique(column, return_inverse=True)
    return values, own.reshape(-1)


def joint_codes(columns: Sequence[Steps], counts: Sequence[int]) -> Steps:
    """One number for the values of several columns: equal for records that are alike in all of them.

    Parameters
    ----------
    columns : sequence of arrays
        Codes from zero.
    counts : sequence of int
        How many codes each column has at most.

    Examples
    --------
    >>> joint_codes([np.array([0, 1, 1]), np.array([2, 0, 0])], [2, 3])
    array([2, 3, 3])
    """
    found, size = columns[0], max(counts[0], 1)
    for codes, count in zip(columns[1:], counts[1:], strict=True):
        if size * max(count, 1) > MOST:
            values, found = np.unique(found, return_inverse=True)
            found, size = found.reshape(-1), len(values)
        found, size = found * max(count, 1) + codes, size * max(count, 1)
    return found


@dataclass(frozen=True)
class ClassCounts:
    """How often each value of a column occurs in each class, class by class and in the order of values.

    Parameters
    ----------
    starts : array of int64, shape (classes,)
        Where the counts of each class begin.
    values, counts : array of int64
        The values that occur in a class, by their ranks, and how often.
    sizes : array of int64, shape (classes,)
        How many records each class has.

    Examples
    --------
    >>> found = ClassCounts.of(np.array([0, 0, 0, 1, 1]), np.array([2, 2, 0, 1, 2]), 2)
    >>> found.distinct, np.round(np.exp(found.entropy), 2), found.largest, found.tail(2)
    (array([2, 2]), array([1.89, 2.  ]), array([2, 1]), array([1, 1]))
    """

    starts: Steps
    values: Steps
    counts: Steps
    sizes: Steps

    @classmethod
    def of(cls, own: Steps, codes: Steps, classes: int) -> ClassCounts:
        """Of records by their class and their value; every class has a record."""
        size = int(codes.max(initial=0)) + 1
        there, counts = _counted(own * size + codes, classes * size)
        return cls(np.searchsorted(there, np.arange(classes) * size), there % size, counts, np.bincount(own))

    @cached_property
    def distinct(self) -> Steps:
        """How many values occur in each class."""
        return np.diff(self.starts, append=len(self.values))

    @cached_property
    def entropy(self) -> Array:
        """Of the values in each class, in nats."""
        parts = np.add.reduceat(self.counts * np.log(self.counts), self.starts)
        return np.maximum(np.log(self.sizes) - parts / self.sizes, 0.0)

    @cached_property
    def largest(self) -> Steps:
        """How often the most frequent value of each class occurs."""
        return np.maximum.reduceat(self.counts, self.starts)

    def tail(self, l: int) -> Steps:  # noqa: E741
        """How many records of each class have its l-th most frequent value, or a rarer one."""
        order = np.lexsort((-self.counts, self._classes))
        rank = np.arange(len(order)) - np.repeat(self.starts, self.distinct)
        return np.add.reduceat(np.where(rank >= l - 1, self.counts[order], 0), self.starts)

    def distance(self, whole: Steps, ordered: bool) -> Array:
        """The earth mover's distance of each class from all records.

        Parameters
        ----------
        whole : array of int64
            How often each value occurs among all records.
        ordered : bool
            Whether values that are close in the order are near one another: the distance of the first and the last is
            1. If not, all distances are 1. Li, Li and Venkatasubramanian 2007, section 5.
        """
        shares = self.counts / self.sizes[self._classes]
        if not ordered:
            more = np.maximum(shares - whole[self.values] / whole.sum(), 0.0)
            return np.add.reduceat(more, self.starts)
        return self._ordered(shares, np.flatnonzero(whole > 0), whole)

    def _ordered(self, shares: Array, there: Steps, whole: Steps) -> Array:
        """The sum of |P - Q| over all values but the last, of cumulative shares, with no table of classes by values."""
        below = np.cumsum(whole[there]) / whole.sum()
        sums = np.concatenate([[0.0], np.cumsum(below)])
        places = np.searchsorted(there, self.values)
        total = np.cumsum(shares)
        level = total - np.repeat((total - shares)[self.starts], self.distinct)
        ends = np.append(places[1:], 0)
        ends[np.append(self.starts[1:], len(places)) - 1] = len(there)
        found = _apart(below, sums, places, ends, np.minimum(level, 1.0))
        found[self.starts] += sums[places[self.starts]]
        return np.add.reduceat(found, self.starts) / max(len(there) - 1, 1)

    @cached_property
    def _classes(self) -> Steps:
        """The class of each count."""
        return np.repeat(np.arange(len(self.starts)), self.distinct)


def _counted(keys: Steps, most: int) -> tuple[Steps, Steps]:
    """The keys that occur, ascending, and how often: without sorting, where there are not many."""
    if most <= 4 * len(keys) + 1024:
        table = np.bincount(keys)
        there = np.flatnonzero(table)
        return there, table[there]
    keys = np.sort(keys)
    places = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[places], np.diff(places, append=len(keys))


def _apart(below: Array, sums: Array, first: Steps, last: Steps, level: Array) -> Array:
    """The sum of |level - below| from the first place up to the last, of a rising sequence with these sums."""
    turn = np.clip(np.searchsorted(below, level), first, last)
    under = level * (turn - first) - (sums[turn] - sums[first])
    return under + (sums[last] - sums[turn]) - level * (last - turn)
