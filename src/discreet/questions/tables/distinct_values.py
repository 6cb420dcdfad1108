"""How many different values a column has, by a sketch of fixed size."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.questions.question import View
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

    def _hashes(self, view: View) -> Iterator[NDArray[np.uint64]]:
        if self.text:
            for keys in view.keys(self.column):
                yield np.array([_hash_of(key) for key in keys], dtype=np.uint64)
        else:
            for batch in view.batches(self.columns):
                yield hashes_of(batch[:, 0][~np.isnan(batch[:, 0])])


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
