"""A convolution whose input comes row by row."""

from __future__ import annotations

import numpy as np

from discreet.core.grid import Array
from discreet.core.held import Held, exclusive

BLOCK = 32  # rows between two passes over all earlier ones


class StreamingConvolution(Held):
    """Give out, for each row that comes, the sum over k of coefficients[k] times the row k steps before.

    Every `BLOCK` rows, what all rows so far add to the next `BLOCK` outputs is found by one product of matrices. All
    rows are kept: `len(coefficients)` times `size` numbers.

    Parameters
    ----------
    coefficients : array of shape (horizon,)
        From the latest row on.
    size : int
        Numbers in a row.

    Examples
    --------
    >>> halves = StreamingConvolution(np.array([1.0, 0.5, 0.25]), size=1)
    >>> [float(halves.push(np.array([x]))[0]) for x in (4.0, 0.0, 2.0)]
    [4.0, 2.0, 3.0]
    """

    def __init__(self, coefficients: Array, size: int) -> None:
        self.coefficients = coefficients
        self.rows: Array = np.zeros((len(coefficients), size))
        self.time = 0
        self._reversed: Array = np.ascontiguousarray(coefficients[::-1])
        self._ahead: Array = np.zeros((BLOCK, size))

    @exclusive
    def push(self, row: Array) -> Array:
        """Take the next row, and give out the sum that ends with it."""
        time, place = self.time, self.time % BLOCK
        self.rows[time] = row
        self.time += 1
        if place == 0:
            self._look_ahead(time)
        start, end = time - place, len(self.coefficients)
        return np.asarray(self._ahead[place] + self._reversed[end - 1 - place :] @ self.rows[start : time + 1])

    @exclusive
    def resume(self, rows: Array) -> None:
        """Take rows that came before."""
        self.time = len(rows)
        self.rows[: self.time] = rows
        self._look_ahead(self.time - self.time % BLOCK)

    def _look_ahead(self, start: int) -> None:
        """What the rows before `start` add to the outputs from there on."""
        count = min(BLOCK, len(self.coefficients) - start)
        lags = start + np.arange(count)[:, None] - np.arange(start)
        self._ahead[:count] = self.coefficients[lags] @ self.rows[:start] if start else 0.0
