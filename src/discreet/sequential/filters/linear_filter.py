"""What a linear filter is asked for, and how long its response to one sample lasts."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array

LONGEST = 2**16
NEGLIGIBLE = 2.0**-44  # share of the energy of a response that may be cut off
STABLE = 1 - 1e-9  # poles that are larger are refused


class LongResponse(ParameterError):
    """One sample moves the output of a filter for longer than can be kept."""


class Memory(Protocol):
    """What filters a sequence row by row, and can be saved."""

    def push(self, row: Array) -> Array:
        """Take the next row of shape (streams, inputs), and give out one of shape (streams, outputs)."""

    def state(self) -> Array:
        """All that the next rows depend on, apart from the filter itself."""

    def restore(self, state: Array) -> None:
        """Go on from a state."""


class LinearFilter(Protocol):
    """A stable linear filter that does not change with time and starts at rest."""

    @property
    def inputs(self) -> int:
        """How many signals go in."""

    @property
    def outputs(self) -> int:
        """How many signals come out."""

    @property
    def order(self) -> int:
        """How many numbers its state has."""

    def impulse(self, length: int) -> Array:
        """Its response to one sample of one, of shape (outputs, inputs, length)."""

    def running(self, streams: int) -> Memory:
        """The filter at rest, for so many streams side by side."""


def check_stable(asked: str, radius: float) -> None:
    """Refuse a filter with a pole on or outside the unit circle: one sample would move its output for ever."""
    if not radius < STABLE:
        remedy = "Give poles inside the unit circle; running sums are what counters are for."
        raise ParameterError(asked, f"it is unstable: a pole has size {radius:.6g}", remedy, radius=radius)


def whole_response(asked: str, system: LinearFilter, horizon: int | None, longest: int = LONGEST) -> Array:
    """The response to one sample, up to the horizon or to where what remains is negligible.

    It is computed for twice as long until the second half has less than 2^-44 of the energy; a stable filter's response
    is a sum of decaying exponentials from its order on.
    """
    length = max(64, 2 * system.order)
    while horizon is None or length < horizon:
        found = system.impulse(length)
        squares = np.square(found).sum(axis=(0, 1))
        if squares[length // 2 :].sum() <= NEGLIGIBLE * squares.sum() and squares.sum() > 0:
            return shortened(found)
        if length > longest:
            break
        length *= 2
    if horizon is None or horizon > longest:
        obstacle = f"its response to one sample lasts longer than {longest} samples"
        raise LongResponse(asked, obstacle, f"Place the noise at the input, or plan for at most {longest} samples.")
    return shortened(system.impulse(horizon))


def shortened(response: Array) -> Array:
    """The same without a negligible end."""
    squares = np.square(response).sum(axis=(0, 1))
    left = np.cumsum(squares[::-1])[::-1]
    return np.asarray(response[:, :, : max(1, int((left > NEGLIGIBLE * left[0]).sum()))])
