"""How many different values a column has, by a sketch of fixed size."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.condition import Compared, Condition, Joined
from discreet.core.grid import Array, Grid
from discreet.questions.question import View
from discreet.questions.tables.domain import Codes, Domain
from discreet.schema.schema import Schema, Text

CELLS = 2**22


@dataclass(frozen=True)
class DistinctValues:
    """How many cells of a bitmap have a value, each value in the cell that its hash says. A curator alone can ask this.

    A unit of k rows has at most k values, and which other cells are full does not depend on it: so at most k cells
    become full or empty where it comes or goes. Missing values have no cell. Whang, Vander-Zanden and Taylor 1990.

    Parameters
    ----------
    column : str
        Public. The column.
    text : bool
        Public. Whether it is one of text.
    cells : int
        Public. Of the bitmap.
    """

    column: str
    text: bool
    cells: int = CELLS
    bound: ClassVar[Bound] = Bound("l1", 1.0, nonnegative=True)
    grid: ClassVar[Grid] = Grid(0)
    size: ClassVar[int] = 1

    @classmethod
    def of(cls, schema: Schema, column: str) -> DistinctValues:
        """Of a column of a schema."""
        text = isinstance(schema.columns.get(column), Text)
        return cls(column if text else schema.values((column,))[0], text)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def answer(self, view: View) -> Answer:
        """The number of full cells."""
        full = np.zeros(self.cells, dtype=np.bool_)
        for hashes in self._hashes(view):
            full[hashes % np.uint64(self.cells)] = True
        steps = np.array([np.count_nonzero(full)], dtype=np.int64)
        return Answer(steps, self.grid, self.bound.times(view.unit.rows), view.neighbors)

    def in_groups(self, groups: Domain) -> DistinctByGroup:
        """The same of every group of records."""
        return DistinctByGroup(self, groups)

    def _hashes(self, view: View) -> Iterator[NDArray[np.uint64]]:
        if self.text:
            for keys in view.keys(self.column):
                yield _hashes_of_texts(keys)
        else:
            for batch in view.batches(self.columns):
                yield hashes_of(batch[:, 0][~np.isnan(batch[:, 0])])


@dataclass(frozen=True)
class DistinctByGroup:
    """How many cells of a bitmap have a value, of each group's own bitmap. A curator alone can ask this.

    A row is in one group, and fills one cell of its bitmap at most. So a unit of k rows moves all numbers together by
    as much as one of them: by k. What it fills in one group says nothing about another group's bitmap.

    Parameters
    ----------
    values : DistinctValues
        Public. What is counted.
    groups : Domain
        Public. The groups; a record without a value in one of their columns is in none.
    """

    values: DistinctValues
    groups: Domain
    bound: ClassVar[Bound] = DistinctValues.bound
    grid: ClassVar[Grid] = DistinctValues.grid

    @property
    def size(self) -> int:
        """One number for each group."""
        return self.groups.size

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.values.column, *self.groups.columns)))

    def answer(self, view: View) -> Answer:
        """The number of full cells of every group."""
        full = self._counted(self._by_text(view) if self.values.text else self._by_number(view))
        return Answer(full, self.grid, self.bound.times(view.unit.rows), view.neighbors)

    def _counted(self, marks: Iterator[tuple[Codes | int, NDArray[np.uint64]]]) -> NDArray[np.int64]:
        """How many cells each group has, from groups and hashes of its values: a cell counts once."""
        cells, seen = self.values.cells, np.empty(0, dtype=np.int64)
        for group, hashes in marks:
            seen = np.union1d(seen, group * cells + (hashes % np.uint64(cells)).astype(np.int64))
        return np.bincount(seen // cells, minlength=self.size).astype(np.int64)

    def _by_number(self, view: View) -> Iterator[tuple[Codes | int, NDArray[np.uint64]]]:
        columns = self.columns
        own = [columns.index(name) for name in self.groups.columns]
        for batch in view.batches(columns):
            groups = self.groups.inside(batch[:, own])
            there = (groups < self.size) & ~np.isnan(batch[:, 0])
            yield groups[there], hashes_of(batch[there, 0])

    def _by_text(self, view: View) -> Iterator[tuple[Codes | int, NDArray[np.uint64]]]:
        for group, condition in enumerate(_conditions(self.groups)):
            for keys in view.keys(self.values.column, condition):
                yield group, _hashes_of_texts(keys)


def _conditions(groups: Domain) -> Iterator[Condition]:
    """The condition of each group, in the order of their numbers."""
    each = [
        [_is(name, place) for place in range(cells)] if edges is None else _between(name, edges)
        for name, edges, cells in zip(groups.columns, groups.edges, groups.shape, strict=True)
    ]
    for parts in product(*each):
        yield parts[0] if len(parts) == 1 else Joined("and", parts)


def _is(column: str, place: int) -> Condition:
    return Compared(column, "==", float(place), str(place))


def _between(column: str, edges: Array) -> list[Condition]:
    """The cells between edges, of which the last one has both of its ends."""
    *inner, last = pairwise(edges.tolist())
    return [_from_to(column, *ends, "<") for ends in inner] + [_from_to(column, *last, "<=")]


def _from_to(column: str, low: float, high: float, sign: str) -> Condition:
    return Joined("and", (Compared(column, ">=", low, repr(low)), Compared(column, sign, high, repr(high))))


def _hashes_of_texts(texts: Iterable[str]) -> NDArray[np.uint64]:
    return np.array([_hash_of(text) for text in texts], dtype=np.uint64)


def _hash_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def hashes_of(numbers: Array) -> NDArray[np.uint64]:
    """A hash of each number: its bits, stirred as SplitMix64 does; minus zero is zero.

    Examples
    --------
    >>> first, second, third = hashes_of(np.array([0.0, -0.0, 1.0])).tolist()
    >>> first == second, first == third
    (True, False)
    """
    bits = (numbers + 0.0).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))
