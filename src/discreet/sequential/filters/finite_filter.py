"""Filters whose response ends: the window over the latest rows, exact weights, and how far one unit moves them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array, Steps
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
        return int(self.taps.shape[1])

    @property
    def outputs(self) -> int:
        return int(self.taps.shape[0])

    @property
    def order(self) -> int:
        """How many earlier samples it needs."""
        return int(self.taps.shape[2]) - 1

    def impulse(self, length: int) -> Array:
        kept = self.taps[:, :, :length]
        return np.asarray(np.pad(kept, [(0, 0), (0, 0), (0, length - kept.shape[2])]))

    def running(self, streams: int) -> MovingWindow:
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
        self._rows[: self._keep] = state
        self._end = self._keep


TAPS = 30  # bits of the sum of all weights; with those of a sample, their products fit 63
FINEST = 40  # places of a weight after the binary point, at most
SURE = 2.0**-40  # more than the relative error of a Fourier transform (Higham 2002, section 24.1)
FINER = 64  # points of a spectrum for each sample of a response


class FiniteResponse:
    """Weights of a finite filter, rounded so that the filter makes no error on integers.

    Parameters
    ----------
    response : array of shape (outputs, inputs, length)
        Public. The weights, before they are rounded.

    Examples
    --------
    >>> halves = FiniteResponse(np.array([[[1.0, 0.5, 0.25]]]))
    >>> round(halves.event_gain(1) ** 2, 4), round(halves.signal_gain(), 2)  # 1 + 1/4 + 1/16, and 1 + 1/2 + 1/4
    (1.3125, 1.75)
    """

    def __init__(self, response: Array) -> None:
        largest = float(np.abs(response).sum(axis=(1, 2)).max())
        self.binary = min(TAPS - math.frexp(largest)[1], FINEST)
        self.numerators: Steps = np.rint(np.ldexp(response, self.binary)).astype(np.int64)

    @property
    def outputs(self) -> int:
        """How many numbers of a row get noise."""
        return int(self.numerators.shape[0])

    @property
    def length(self) -> int:
        """How long one sample is remembered."""
        return int(self.numerators.shape[2])

    def running(self, streams: int) -> MovingWindow:
        """The filter at rest; its sums are in units of 2^-binary."""
        return MovingWindow(self.numerators, streams)

    def event_gain(self, contributions: int) -> float:
        """How far all outputs together move in l2 if so many samples of one input move by one each; rounded up.

        One sample moves them by the l2 norm of the whole response to it (the H2 norm). For k samples at different
        times, with R(l) the products of responses that are l samples apart and M(l) the largest |R| from l on, the
        squared move is at most the sum of M(|i - j|) over i, j < k. It is reached where R falls and is positive.
        """
        if contributions == 1:
            return self._scaled(max(sum(int(w) ** 2 for w in one.ravel().tolist()) for one in self._inputs()))
        lags = np.arange(min(contributions, self.length))
        pairs = np.where(lags == 0, 1.0, 2.0) * (contributions - lags)
        return self._scaled(max(float(pairs @ _envelope(one)[: len(lags)]) for one in self._inputs()))

    def signal_gain(self) -> float:
        """How far all outputs together move in l2 if one input, at all times together, moves by one in l2; rounded up.

        That is the largest |F| over all frequencies (the H-infinity norm). The squared size of a response of n + 1
        samples is a trigonometric polynomial of degree n, which at a distance d from where it is largest, at most
        pi / n, is at least cos(n d) times as large (M. Riesz 1914). So it is at most the largest of N > 2 n equally
        spaced values, divided by cos(pi n / N).
        """
        size = _power(FINER * self.length)
        sizes = (np.square(np.abs(np.fft.rfft(one, size))).sum(axis=0).max() for one in self._inputs())
        return self._scaled(float(max(sizes)) / math.cos(math.pi * (self.length - 1) / size) * (1 + SURE))

    def _inputs(self) -> list[NDArray[Any]]:
        return list(np.moveaxis(self.numerators, 1, 0))

    def _scaled(self, square: float) -> float:
        root = float(math.isqrt(square) + 1) if isinstance(square, int) else math.sqrt(square)
        return math.ldexp(root, -self.binary) * (1 + 2.0**-50)


def _envelope(response: NDArray[Any]) -> Array:
    """M(l) for one input: the largest product of two responses that are at least l samples apart."""
    length = response.shape[1]
    squares = np.square(np.abs(np.fft.rfft(response, _power(2 * length)))).sum(axis=0)
    products = np.abs(np.fft.irfft(squares)[:length])
    return np.asarray(np.maximum.accumulate(products[::-1])[::-1] + SURE * products[0])


def _power(size: int) -> int:
    return 1 << (size - 1).bit_length()
