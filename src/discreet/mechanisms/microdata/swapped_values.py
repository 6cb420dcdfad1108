"""Values that are exchanged between records: NOT PRIVATE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Array, Steps
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.noise.bernoulli import Coins, bernoulli
from discreet.noise.uniform import permutation, uniform_integers


@dataclass(frozen=True)
class SwappedRanks(CheckedParameters):
    """Exchanges the values of each column between records of near ranks: NOT PRIVATE.

    A column is sorted, ties in a random order, and cut into blocks of ranks, of which the first ends at random. Inside
    a block values are exchanged by pairs, each as likely as any other. Missing values stay where they are.

    Parameters
    ----------
    columns : int
        Public. How many columns are swapped, the first ones; further ones are given away as they are.
    window : float
        Public. How far a value may move, as a part of all ranks; one rank at least.
    """

    columns: int
    window: float

    event: ClassVar[NoPromise] = NoPromise("values move by a known number of ranks: several columns single records out")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records after swapping."""
        values = answer.values.copy()
        for place in range(self.columns):
            there = np.flatnonzero(~np.isnan(values[:, place]))
            values[there, place] = swapped_ranks(values[there, place], bits, self.window)
        return ChangedRows.shuffled(values, bits)


@dataclass(frozen=True)
class SwappedPlaces(CheckedParameters):
    """Exchanges the place of records that have the same keys: NOT PRIVATE.

    Records that fewer than `rare` share all values of the place and the risky columns with are chosen, and each other
    by a coin. Those chosen among records with the same keys are paired, such that a pair is in two places; where one
    place has too many of them, others are chosen in addition; where there is none elsewhere, a record stays.

    Where there are households, the records of one in a place move together, all of them if any is chosen, and change
    places with a household of as many records, which have the same keys. A record without one is a household.

    Parameters
    ----------
    keys : tuple of int
        Public. The columns in which both of a pair are equal.
    risky : tuple of int
        Public. The columns by which a record is rare in its place.
    rare : int
        Public. A record is rare if its place has fewer than so many with the same values of risky columns.
    rate : float
        Public. The probability with which any other record, or household, is chosen.
    household : int, optional
        Public. The column that is the same for all records of a household.
    given : int, optional
        Public. How many columns are given away, the first ones; by default all.
    """

    keys: tuple[int, ...]
    risky: tuple[int, ...]
    rare: int
    rate: float
    household: int | None = None
    given: int | None = None

    event: ClassVar[NoPromise] = NoPromise(
        "most records stay in their place, and exact tables beside it show the others"
    )

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records after swapping; the place is the first column."""
        values = answer.values[:, : self.given].copy()
        homes = np.arange(len(values)) if self.household is None else homes_of(answer.values[:, [0, self.household]])
        first = np.unique(homes, return_index=True)[1]
        places, alike = values[first, 0], self._alike(answer.values, homes)
        chosen = self._lonely(answer.values, homes) | bernoulli(bits, len(first), self.rate)
        order = permutation(bits, len(first))
        one, other = order[place_pairs(places[order], alike[order], chosen[order])].T
        found = places.copy()
        found[one], found[other] = places[other], places[one]
        values[:, 0] = found[homes]
        return ChangedRows.shuffled(values, bits)

    def _alike(self, values: Array, homes: Steps) -> Steps:
        """A number for each household, the same for those whose records have the same keys."""
        keys = codes_of(values[:, list(self.keys)])
        return keys if self.household is None else sets_of(keys, homes)

    def _lonely(self, values: Array, homes: Steps) -> Coins:
        """The households in which a record is rare in its place."""
        cells = codes_of(values[:, [0, *self.risky]])
        rare = np.bincount(cells, minlength=1)[cells] < self.rare
        return np.bincount(homes, rare) > 0


def homes_of(values: Array) -> Steps:
    """The household of each record, from its place and the name of the household; one without a name is alone.

    Examples
    --------
    >>> homes_of(np.array([[1.0, 7.0], [1.0, np.nan], [1.0, 7.0], [2.0, 7.0], [1.0, np.nan]]))
    array([0, 2, 0, 1, 3])
    """
    alone = np.isnan(values[:, 1])
    codes = np.where(alone, len(values) + np.arange(len(values)), codes_of(values[:, ::-1]))
    return np.unique(codes, return_inverse=True)[1].reshape(-1)


def sets_of(keys: Steps, homes: Steps) -> Steps:
    """A number for each household, the same for those in which the same keys occur as often.

    Examples
    --------
    >>> sets_of(np.array([5, 4, 4, 5, 4]), np.array([0, 0, 1, 2, 2]))
    array([0, 1, 0])
    """
    order = np.lexsort((keys, homes))
    starts = np.flatnonzero(np.diff(homes[order]))
    parts = np.split(keys[order], starts + 1)
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(part.tobytes(), len(known)) for part in parts], np.int64)


def swapped_ranks(values: Array, bits: Bits, window: float) -> Array:
    """Values of a column after swapping within blocks of ranks.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> swapped_ranks(np.arange(10.0), DeterministicBits(1), 0.3)
    array([1., 0., 5., 4., 3., 2., 9., 8., 7., 6.])
    """
    n = len(values)
    if n == 0:
        return values
    block = max(math.floor(window * n), 1) + 1
    order = permutation(bits, n)
    order = order[np.argsort(values[order], kind="stable")]
    first = int(uniform_integers(bits, 1, block)[0])
    blocks = (np.arange(n) + first) // block
    mixed = permutation(bits, n)
    mixed = mixed[np.argsort(blocks[mixed], kind="stable")]  # the ranks of each block, in a random order
    place = np.arange(n) - np.searchsorted(blocks, blocks)  # inside its block
    left = np.flatnonzero((place[:-1] % 2 == 0) & (blocks[:-1] == blocks[1:]))
    found = values.copy()
    one, other = order[mixed[left]], order[mixed[left + 1]]
    found[one], found[other] = values[other], values[one]
    return found


def codes_of(values: Array) -> Steps:
    """A number for each row, the same for rows with the same values; a missing one is a value of its own.

    Examples
    --------
    >>> codes_of(np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan]]))
    array([0, 1, 0])
    """
    found = np.zeros(len(values), np.int64)
    for column in values.T:
        own = np.unique(column, return_inverse=True)[1].reshape(-1)
        found = np.unique(found * (len(values) + 1) + own, return_inverse=True)[1].reshape(-1)
    return found


def place_pairs(places: Array, alike: Steps, chosen: Coins) -> Steps:
    """Pairs of records with the same keys, of those that are chosen: in two places, as far as there are enough.

    Examples
    --------
    >>> places, alike = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 0, 1])
    >>> place_pairs(places, alike, np.array([True, False, False, True])).tolist()
    [[2, 0]]
    """
    order = np.argsort(alike, kind="stable")
    ends = np.flatnonzero(np.diff(alike[order], prepend=-1, append=-1))
    wanted = np.add.reduceat(chosen[order], ends[:-1]) if len(order) else ends[:0]
    own = codes_of(places[:, None])
    found = [np.zeros((0, 2), np.int64)]
    for start, end in zip(ends[:-1][wanted > 0], ends[1:][wanted > 0], strict=True):
        members = order[start:end]
        found.append(members[_matched(own[members], chosen[members])])
    return np.concatenate(found)


def _matched(places: Steps, chosen: Coins) -> Steps:
    """Pairs among records with the same keys.

    Sorted by place, a record and the one half of all behind are in two places, unless more than half are in one. That
    one comes last, so that a record which is left over is of it.
    """
    counts = np.bincount(places[chosen])
    most, total = int(counts.argmax()), int(counts.sum())
    surplus = 2 * int(counts[most]) - total
    spare = np.flatnonzero(~chosen & ((places != most) | (surplus <= 0)))
    members = np.concatenate([np.flatnonzero(chosen), spare[: surplus if surplus > 0 else total % 2]])
    first = np.full(int(places.max()) + 1, len(places))
    np.minimum.at(first, places, np.arange(len(places)))
    first[most] = len(places)
    members = members[np.argsort(first[places[members]], kind="stable")]
    half = len(members) // 2
    return np.column_stack([members[:half], members[half : 2 * half]])
