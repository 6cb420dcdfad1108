"""Records as rows of whole steps, a few at a time, from numbers as they are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.schema.schema import Number

CACHED = 2**17  # numbers at a time, which stay in the cache
TILE = 2**12  # numbers in a row of constants: numpy is slow where it repeats a shorter one
NARROW = 5  # columns: of fewer, numpy computes whole columns faster than rows
SMALL = 2.0**-30  # what a number is multiplied by, so that finite numbers of all columns add up to a finite one
SLICE = 2**16  # numbers at a time


@unheld("one call")
@dataclass(frozen=True)
class StepRows:
    """Some records in whole steps, a row each.

    Parameters
    ----------
    steps : array of shape (n, columns)
        Zeros for a record with a missing value. To be overwritten at will.
    present : array of bool, shape (n,)
        Whether no value of a record is missing.
    """

    steps: Array
    present: NDArray[np.bool_]

    def squares(self) -> Array:
        """What the squares of each row add up to: whole numbers, which add up alike in every order."""
        if self.steps.shape[1] >= NARROW:
            return np.asarray(np.einsum("ij,ij->i", self.steps, self.steps))
        found = np.zeros(len(self.steps))
        for column in self.steps.T:
            found += column * column
        return found

    def multiply(self, factors: Array) -> None:
        """Multiply each row by a factor, and round to whole steps."""
        if self.steps.shape[1] >= NARROW:
            np.multiply(self.steps, factors[:, None], out=self.steps)
        else:
            for column in self.steps.T:
                column *= factors
        np.rint(self.steps, out=self.steps)


class RowSteps:
    """Makes whole steps of records: (x - middle) * scale, where each x is moved inside its bounds; all of it public.

    A value that is not finite is missing. Every number is computed from one value by the same rounded operations,
    whatever its place among the records, so what becomes of a record depends on that record alone.

    Parameters
    ----------
    numbers : sequence of Number
        The columns, between whose bounds values are moved.
    middle, scale : arrays of shape (n_columns,)
        One of each for every column.
    whole : callable
        Makes whole numbers: `numpy.rint` or `numpy.trunc`.

    Examples
    --------
    >>> halves = RowSteps([Number(0, 8), Number(0, 8)], np.array([4.0, 4.0]), np.array([2.0, 2.0]))
    >>> found = halves.of(np.array([[3.0, 4.6], [99.0, -1e300], [np.inf, 4.0]]))
    >>> found.steps, found.present
    (array([[-2.,  1.],
           [ 8., -8.],
           [ 0.,  0.]]), array([ True,  True, False]))
    """

    def __init__(
        self, numbers: Sequence[Number], middle: Array, scale: Array, whole: Callable[..., Any] = np.rint
    ) -> None:
        self._columns, self._tile, self._whole = len(numbers), max(1, TILE // len(numbers)), whole
        lower, upper = np.array([(number.lower, number.upper) for number in numbers], dtype=np.float64).T
        self._lower, self._upper, self._middle, self._scale = map(self._tiled, (lower, upper, middle, scale))
        self._alike = isinstance(self._lower, float) and isinstance(self._upper, float)
        self._moved = bool(np.any(middle != 0))
        self._small = np.full(self._columns, SMALL)

    def _tiled(self, constants: Array) -> Array | float:
        """A constant where all columns have the same, else those of several rows side by side."""
        return float(constants[0]) if (constants == constants[0]).all() else np.tile(constants, self._tile)

    def of(self, records: Array) -> StepRows:
        """All of these records together."""
        return self._put(records, np.zeros((self._rows(len(records)), self._columns)))

    def slices(self, records: Array) -> Iterator[StepRows]:
        """A few records at a time, so that they stay in the cache; each slice overwrites the one before."""
        rows = self._rows(min(len(records), max(1, CACHED // self._columns)))
        room = np.zeros((rows, self._columns))
        for start in range(0, len(records), rows):
            yield self._put(records[start : start + rows], room)

    def _rows(self, n: int) -> int:
        """So many, or a few more: whole tiles."""
        return max(1, -(-n // self._tile)) * self._tile

    def _put(self, records: Array, room: Array) -> StepRows:
        """The rows behind these records hold others, or zeros; the work is the same whatever the values."""
        steps, wide = room[: len(records)], room.reshape(-1, self._tile * self._columns)
        with np.errstate(invalid="ignore"):
            present = np.isfinite(records @ self._small if self._columns > 1 else records[:, 0])
            if self._alike:
                np.clip(records, self._lower, self._upper, out=steps)
            else:
                np.copyto(steps, records)
                np.minimum(np.maximum(wide, self._lower, out=wide), self._upper, out=wide)
            if self._moved:
                np.subtract(wide, self._middle, out=wide)
            self._whole(np.multiply(wide, self._scale, out=wide), out=wide)
        steps[~present] = 0.0
        return StepRows(steps, present)


def by_slices(total: Callable[[Array], Array], columns: int, size: int) -> Callable[[Array], Array]:
    """The same fused sum, over slices of a batch.

    Parameters
    ----------
    total : callable
        Rows in, whole steps out; those of a batch add up to less than 2**53.
    columns : int
        Public. How many numbers a row has.
    size : int
        Public. How many the sum has.

    Examples
    --------
    >>> by_slices(lambda records: records.sum(axis=0), 2, 2)(np.ones((100_000, 2)))
    array([100000., 100000.])
    """
    rows = max(SLICE // columns, size)

    def sliced(records: Array) -> Array:
        found = np.zeros(size)
        for start in range(0, len(records), rows):
            found += total(records[start : start + rows])
        return found

    return sliced
