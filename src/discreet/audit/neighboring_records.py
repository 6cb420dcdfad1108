"""Pairs of neighboring data sets on which a mechanism of one's own is tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from discreet.audit.ratio import Values
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors

ASKED = "audit"
EVERY = 3  # columns, at most, all of whose corners are tried
VALUES = 32  # whole numbers, at most, each of which is tried
CHANGES = 2  # records of the others that a variation changes, at most


@dataclass(frozen=True)
class NeighboringRecords:
    """Two data sets that differ in one record.

    Parameters
    ----------
    first, second : array, shape (n,) or (n, columns)
        The records of each.
    """

    first: Values = field(repr=False)
    second: Values = field(repr=False)

    def __str__(self) -> str:
        return f"{_listed(self.first)} and {_listed(self.second)}"


def _listed(records: Values) -> str:
    return np.array2string(records, separator=", ", threshold=10**9, max_line_width=10**9).replace("\n", "")


@dataclass(frozen=True)
class Corners:
    """The space of one record: a number between two bounds, or a row of them.

    Parameters
    ----------
    lower, upper : number or array of shape (columns,)
        Public. The bounds of each column. Where both are whole numbers, so are the records.

    Examples
    --------
    >>> Corners.of((0, 1)).rows.tolist(), Corners.of(([0, 0], [1, 5])).rows.tolist()
    ([0, 1], [[0, 0], [0, 5], [1, 0], [1, 5]])
    """

    lower: Values
    upper: Values

    @classmethod
    def of(cls, bounds: Any) -> Corners:
        """Check bounds that somebody gave."""
        remedy = "Give (lower, upper): two finite numbers, or two lists with a number for each column."
        try:
            lower, upper = (np.asarray(side) for side in bounds)
            fits = lower.shape == upper.shape and lower.ndim <= 1 and lower.size > 0
            ordered = bool(np.all(lower < upper) and np.all(np.isfinite(lower) & np.isfinite(upper)))
        except (TypeError, ValueError):
            raise ParameterError(ASKED, "the bounds are no two numbers or lists", remedy, parameter="bounds") from None
        kind = np.result_type(lower, upper)
        if kind.kind not in "iuf" or not (fits and ordered):
            raise ParameterError(ASKED, "the lower bounds are not below the upper ones", remedy, parameter="bounds")
        return cls(lower.astype(kind), upper.astype(kind))

    @property
    def rows(self) -> Values:
        """Every corner, of up to three columns; otherwise the aligned, the opposed and the single ones."""
        columns = self.lower.size
        if columns <= EVERY:
            highs = np.array(list(product((False, True), repeat=columns)))
        else:
            even, one = np.arange(columns) % 2 == 0, np.arange(columns) == 0
            some = [even, one, one[::-1], np.zeros(columns, dtype=bool)]
            highs = np.array([*some, *(~high for high in some)])
        return self._at(highs if self.lower.ndim else highs[:, 0])

    @property
    def middle(self) -> Values:
        """The record between all bounds."""
        found = self.lower / 2 + self.upper / 2
        return (np.floor(found) if self.lower.dtype.kind in "iu" else found).astype(self.lower.dtype)

    @property
    def inner(self) -> Values:
        """Each value but the least and the greatest, where these are whole numbers that are not far apart."""
        if self.lower.ndim or self.lower.dtype.kind == "f" or int(self.upper) - int(self.lower) >= VALUES:
            return self.rows[:0]
        return np.arange(self.lower + 1, self.upper, dtype=self.lower.dtype)

    def opposite(self, rows: Values) -> Values:
        """The corner across from each."""
        return np.where(rows == self.upper, self.lower, self.upper)

    def inside(self, rng: np.random.Generator) -> Values:
        """A record anywhere between the bounds."""
        found = self.lower + (self.upper - self.lower) * rng.random(self.lower.shape)
        return (np.floor(found) if self.lower.dtype.kind in "iu" else found).astype(self.lower.dtype)

    def empty(self) -> Values:
        """No records."""
        return np.empty((0, *self.lower.shape), dtype=self.lower.dtype)

    def _at(self, highs: Values) -> Values:
        return np.where(highs, self.upper, self.lower)


@dataclass(frozen=True)
class Proposal:
    """Records that two data sets share, and what each has besides: a record, or none."""

    shared: Values = field(repr=False)
    one: Values | None
    other: Values
    place: int

    @property
    def pair(self) -> NeighboringRecords:
        """Both data sets."""
        return NeighboringRecords(self._with(self.one), self._with(self.other))

    def _with(self, record: Values | None) -> Values:
        return self.shared.copy() if record is None else np.insert(self.shared, self.place, record, axis=0)

    def varied(self, corners: Corners, rng: np.random.Generator) -> Proposal:
        """About the same change among other records: some moved, one more or one less, and at another place."""
        shared = self.shared.copy()
        if not len(shared) or rng.random() < 1 / 3:
            shared = np.insert(shared, len(shared), rng.choice(corners.rows), axis=0)
        elif rng.random() < 1 / 3:
            shared = shared[1:]
        for place in rng.integers(0, max(len(shared), 1), CHANGES) if len(shared) else ():
            shared[place] = corners.inside(rng) if rng.random() < 1 / 2 else rng.choice(corners.rows)
        other = corners.inside(rng) if rng.random() < 1 / 4 else self.other
        return Proposal(shared, self.one, other, int(rng.integers(0, len(shared) + 1)))


def proposed(corners: Corners, neighbors: Neighbors, size: int) -> list[Proposal]:
    """What is tried first: a record at each corner, added to or moved within data sets of several kinds; then values.

    Examples
    --------
    >>> for proposal in proposed(Corners.of((0, 4)), Neighbors.ADD_REMOVE, 2)[:4]:
    ...     print(proposal.pair)
    [] and [0]
    [] and [4]
    [] and [2]
    [0, 0] and [0, 0, 0]
    """
    changes, least = list(_changes(corners, neighbors)), None if neighbors is Neighbors.ADD_REMOVE else corners.lower
    among = [Proposal(shared, one, other, len(shared)) for shared in _shared(corners, size) for one, other in changes]
    return [*among, *(Proposal(corners.empty(), least, value, 0) for value in corners.inner)]


def _changes(corners: Corners, neighbors: Neighbors) -> Iterator[tuple[Values | None, Values]]:
    rows = corners.rows
    if neighbors is Neighbors.ADD_REMOVE:
        yield from ((None, row) for row in (*rows, corners.middle))
        return
    across = corners.opposite(rows)
    for row, far in zip(rows, across, strict=True):
        if tuple(np.atleast_1d(row)) < tuple(np.atleast_1d(far)):
            yield row, far
    for row in rows if rows.ndim > 1 else ():
        for corner in (corners.lower, corners.upper):
            if np.count_nonzero(row != corner) == 1 < row.size:
                yield corner, row
    yield corners.lower, corners.middle


def _shared(corners: Corners, size: int) -> Iterator[Values]:
    """None; all low; all high; low and high by turns; opposed columns by turns; and one unlike all others."""
    yield corners.empty()
    low, high = corners.lower[None], corners.upper[None]
    turns = [np.concatenate([low]), np.concatenate([high]), np.concatenate([low, high])]
    if corners.lower.ndim and corners.lower.size > 1:
        even = np.where(np.arange(corners.lower.size) % 2 == 0, corners.upper, corners.lower)[None]
        turns.append(np.concatenate([even, corners.opposite(even)]))
    yield from (np.resize(turn, (size, *corners.lower.shape)) for turn in turns if size)
    if size > 2:
        for one, others in ((low, high), (high, low)):
            yield np.concatenate([one, np.repeat(others, size - 1, axis=0)])


def given_pairs(neighbors: Any) -> list[NeighboringRecords]:
    """Check pairs of data sets that somebody gave: one pair, as a tuple, or a list of pairs.

    Examples
    --------
    >>> print(given_pairs(([], [[1, 2]]))[0])
    [] and [[1, 2]]
    """
    remedy = "Give a tuple of two arrays of records, a list of such tuples, or a member of `Neighbors`."
    try:
        listed = [neighbors] if isinstance(neighbors, tuple) else list(neighbors)
        pairs = [tuple(np.asarray(side) for side in pair) for pair in listed]
    except (TypeError, ValueError):
        pairs = []
    if not pairs or any(len(pair) != 2 or min(side.ndim for side in pair) < 1 for pair in pairs):
        raise ParameterError(ASKED, "the neighbors are no pairs of data sets", remedy, parameter="neighbors")
    if any(side.dtype.kind not in "biuf" for pair in pairs for side in pair):
        raise ParameterError(ASKED, "the neighbors hold what is no number", remedy, parameter="neighbors")
    return [NeighboringRecords(_as(first, second), _as(second, first)) for first, second in pairs]


def _as(records: Values, other: Values) -> Values:
    """No records, with as many columns as the other data set."""
    return records if records.size else np.empty((0, *other.shape[1:]), dtype=other.dtype)
