"""A filter whose response ends, and the window over the latest rows that it is computed from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.core.held import Held, exclusive


class FiniteFilter:
    """Filter by a weighted sum of the latest samples.

    Parameters
    ----------
    taps : array of shape (outputs, inputs, length)
        Public. The weights, from the latest sample on.

    Examples
    --------
    >>> FiniteFilter(np.array([[[0.5, 0.5]]])).running(1).push(np.array([[3.0]]))
    array([[1.5]])
    """

    def __init__(self, taps: Array) -> None:
        self.taps = taps

    @classmethod
    def identity(cls, size: int) -> FiniteFilter:
        """What gives out its inputs."""
        return cls(np.eye(size)[:, :, None])

    @property
    def inputs(self) -> int:
        """How many signals go in."""
        return int(self.taps.shape[1])

    @property
    def outputs(self) -> int:
        """How many signals come out."""
        return int(self.taps.shape[0])

    @property
    def order(self) -> int:
        """How many earlier samples it needs."""
        return int(self.taps.shape[2]) - 1

    def impulse(self, length: int) -> Array:
        """Its response to one sample of one, of shape (outputs, inputs, length)."""
        kept = self.taps[:, :, :length]
        return np.asarray(np.pad(kept, [(0, 0), (0, 0), (0, length - kept.shape[2])]))

    def running(self, streams: int) -> MovingWindow:
        """The filter at rest, for so many streams side by side."""
        return MovingWindow(self.taps, streams)


class MovingWindow(Held):
    """The latest rows of several streams, and their weighted sums; in integers where the weights are.

    Parameters
    ----------
    taps : array of shape (outputs, inputs, length)
        From the latest row on.
    streams : int
        How many are filtered side by side.
    """

    def __init__(self, taps: NDArray[Any], streams: int) -> None:
        self._taps = np.ascontiguousarray(np.moveaxis(taps, 2, 0)[::-1])  # (length, outputs, inputs), latest last
        self._keep = len(self._taps) - 1
        self._rows = np.zeros((2 * self._keep + 16, streams, taps.shape[1]), taps.dtype)
        self._end = self._keep

    @exclusive
    def push(self, row: NDArray[Any]) -> NDArray[Any]:
        """Take the next row of shape (streams, inputs), and give out one of shape (streams, outputs)."""
        if self._end == len(self._rows):
            self._rows[: self._keep] = self._rows[self._end - self._keep :]
            self._end = self._keep
        self._rows[self._end] = row
        self._end += 1
        window = self._rows[self._end - self._keep - 1 : self._end]
        return np.asarray(np.tensordot(window, self._taps, axes=([0, 2], [0, 2])))

    @exclusive
    def state(self) -> NDArray[Any]:
        """The rows that later sums need."""
        return self._rows[self._end - self._keep : self._end]

    @exclusive
    def restore(self, state: NDArray[Any]) -> None:
        """Go on from a state."""
        self._rows[: self._keep] = state
        self._end = self._keep
