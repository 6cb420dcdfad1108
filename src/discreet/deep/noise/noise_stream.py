"""Sums of successive steps, released with correlated noise."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from discreet.core.held import Held, exclusive
from discreet.deep.noise.banded_factorization import BandedFactorization

A = TypeVar("A", NDArray[np.float64], Tensor)


class NoiseStream(Held, Generic[A]):
    """Releases C g + z row by row, and gives back g + C^-1 z: what is private, and what is useful.

    It keeps the exact sums of the last steps, which are secret, and so it is in no checkpoint.

    Parameters
    ----------
    bands : BandedFactorization
        Public. C.

    Examples
    --------
    >>> stream = NoiseStream(BandedFactorization((0.8, 0.6)))
    >>> noise = iter([1.0, 0.0, 0.0])
    >>> [float(stream.released(np.zeros(1), lambda row: row + next(noise))[0].round(3)) for _ in range(3)]
    [1.25, -0.938, 0.703]
    """

    def __init__(self, bands: BandedFactorization) -> None:
        self._column = bands.coefficients
        self._sums: deque[A] = deque(maxlen=bands.count - 1)
        self._released: deque[A] = deque(maxlen=bands.count - 1)

    @exclusive
    def released(self, sums: A, noisy: Callable[[A], A]) -> A:
        """The sums of the next step, with noise; `noisy` adds independent noise to a row."""
        row = noisy(self._added(self._column[0] * sums, self._sums, 1.0))
        found = self._added(row, self._released, -1.0) / self._column[0]
        self._sums.appendleft(sums)
        self._released.appendleft(found)
        return found

    def _added(self, first: A, earlier: deque[A], sign: float) -> A:
        for factor, one in zip(self._column[1:], earlier, strict=False):
            first = first + sign * factor * one
        return first
