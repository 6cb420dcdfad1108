"""A filter of one signal, as a quotient of polynomials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import signal

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.sequential.filters.linear_filter import LONGEST, check_stable

ASKED = "transfer function"


@dataclass(frozen=True)
class TransferFunction:
    """Filter one signal: a[0] y[t] = b[0] x[t] + b[1] x[t-1] + ... - a[1] y[t-1] - a[2] y[t-2] - ...

    Parameters
    ----------
    b, a : sequence of float
        Public. As in `scipy.signal.lfilter`, and as `scipy.signal.butter` and others return them.

    Raises
    ------
    ParameterError
        A pole is on or outside the unit circle.

    Examples
    --------
    >>> smooth = TransferFunction([0.1], [1.0, -0.9])
    >>> smooth.impulse(3).round(3)
    array([[[0.1  , 0.09 , 0.081]]])
    """

    b: tuple[float, ...]
    a: tuple[float, ...]

    def __init__(self, b: ArrayLike, a: ArrayLike = (1.0,)) -> None:
        for name, given in (("b", b), ("a", a)):
            each = np.asarray(given, np.float64)
            if each.ndim != 1 or not 0 < len(each) <= LONGEST or not np.isfinite(each).all() or not each.any():
                raise ParameterError(ASKED, f"{name} is {given!r}", "Give numbers, not all of them zero.")
            object.__setattr__(self, name, tuple(each.tolist()))
        if self.a[0] == 0:
            raise ParameterError(ASKED, "a[0] is zero", "Leave out leading zeros.")
        check_stable(ASKED, float(np.abs(np.roots(self.a)).max(initial=0.0)))

    @property
    def inputs(self) -> int:
        return 1

    @property
    def outputs(self) -> int:
        return 1

    @property
    def order(self) -> int:
        return max(len(self.a), len(self.b)) - 1

    def impulse(self, length: int) -> Array:
        one = np.zeros(length)
        one[0] = 1.0
        return np.asarray(signal.lfilter(self.b, self.a, one)).reshape(1, 1, -1)

    def running(self, streams: int) -> RunningTransfer:
        return RunningTransfer(self, streams)


class RunningTransfer(Held):
    """A transfer function at work on several streams, in the transposed direct form II."""

    def __init__(self, system: TransferFunction, streams: int) -> None:
        size = system.order + 1
        self._b, self._a = (np.pad(each, (0, size - len(each))) / system.a[0] for each in (system.b, system.a))
        self._held: Array = np.zeros((streams, size))  # the last column stays zero

    @exclusive
    def push(self, row: Array) -> Array:
        """Take the next row of shape (streams, 1), and give out another."""
        found = row * self._b[0] + self._held[:, :1]
        self._held[:, :-1] = self._held[:, 1:] + row * self._b[1:] - found * self._a[1:]
        return np.asarray(found)

    @exclusive
    def state(self) -> Array:
        """What it holds of earlier rows."""
        return self._held

    @exclusive
    def restore(self, state: Array) -> None:
        self._held = np.array(state, np.float64)
