"""Running sums with the least noise: by the square root of the matrix that adds up."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.counters.counter import Counter
from discreet.sequential.counters.square_root_factor import BINARY, square_root_factor
from discreet.sequential.counters.streaming_convolution import StreamingConvolution
from discreet.sequential.counters.updates import UNIT, Updates
from discreet.sequential.reading import update_of
from discreet.sequential.resumable import State, fitting

LONGEST = 2**16
CELLS = 20  # bits between the bound and the grid: with those of a coefficient and of sums, all fit a float64


class SquareRootCounter(Counter):
    """Release the sum of all updates so far, after every update, with noise correlated over time.

    With A = B C the matrix of running sums, C x gets independent Gaussian noise z, and B (C x + z) = A x + B z is
    released. For 1,024 updates the root mean square of the noise is 3.1 bounds times the multiplier, where a tree has
    7.4 and independent noise 22.6.

    Parameters
    ----------
    horizon : int
        Public. How many updates there are at most, up to 65,536. All of them are kept, twice.
    noise : Gaussian
        Public. Its multiplier is in units of what one unit moves C x by.
    bound : Bound
        Public. What each update is clipped to; by default numbers from 0 to 1.
    size : int
        Public. How many numbers an update has.
    neighbors : Neighbors
        Public. Whether an update of zeros (`ADD_REMOVE`) or any other update (`REPLACE`) takes the place of a unit's.
    contributions : int
        Public. In how many updates a unit takes part at most: 1 protects single events, more protect whole users.
    bits : Bits, optional
        Where noise comes from; secret bits of this process by default.

    Guarantee
    ---------
    `noise.event` for all releases together. A unit moves C x by at most `SquareRootFactor.norm` times what one update
    moves by, and releases are computed from C x + z alone: updates are whole grid steps and coefficients of C multiples
    of 2^-22, so C x is on the grid on which the rounded noise is drawn, without error. It holds also where updates are
    chosen after looking at earlier releases: Denisov, McMahan, Rush, Smith and Guha Thakurta 2022, Theorem 2.1.

    Examples
    --------
    >>> from discreet.mechanisms import Gaussian
    >>> counter = SquareRootCounter(1024, Gaussian(0.001))
    >>> [round(float(counter.update(1.0))) for _ in range(3)]
    [1, 2, 3]
    >>> round(counter.factor.rmse(), 2)
    3.11
    """

    purpose: ClassVar[str] = "square root counter"

    def __init__(
        self,
        horizon: int,
        noise: Additive,
        bound: Bound = UNIT,
        size: int = 1,
        *,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
        contributions: int = 1,
        bits: Bits | None = None,
    ) -> None:
        check_whole(self.purpose, "horizon", horizon, most=LONGEST)
        check_whole(self.purpose, "contributions", contributions, most=int(horizon))
        if noise.norm != "l2":
            raise ParameterError(self.purpose, f"the noise is {noise}", "Give Gaussian noise.")
        self.factor = square_root_factor(int(horizon))
        moved = self.factor.norm(int(contributions))
        updates = Updates(noise, bound, int(size), neighbors, moved, int(contributions), CELLS, BINARY)
        super().__init__(int(horizon), updates, bits)
        self._into = StreamingConvolution(self.factor.numerators.astype(np.float64), int(size))
        self._out = StreamingConvolution(self.factor.left, int(size))

    @property
    def clock(self) -> int:
        """How many updates were made."""
        return self._into.time

    def stddev(self, time: int) -> float:
        """The standard deviation of the noise on each number of the release after so many updates."""
        return self._updates.scale * math.hypot(*self.factor.left[: int(time)].tolist())

    def update(self, value: ArrayLike) -> Array:
        """Add one update, and release the sum of all so far, in the shape of the update."""
        given = update_of(value, self._updates.size)
        size = self._updates.size
        self.admit((given.size,), (size,), self.clock)
        steps = self._updates.steps(given.reshape(1, -1))[0].astype(np.float64)
        exact = self._into.push(steps).astype(np.int64)
        noisy = exact + self._updates.drawn(self._bits, (size,))
        return (self._out.push(noisy.astype(np.float64)) * self._updates.noise_step).reshape(given.shape)

    def state(self) -> State:
        """All updates, and what was released of them."""
        return {"into": self._into.rows[: self.clock], "out": self._out.rows[: self.clock]}

    def restore(self, state: State) -> None:
        """Go on from a state of a counter with the same parameters."""
        into = fitting(state, "into", self._into.rows, self.horizon)
        out = fitting(state, "out", self._out.rows[: len(into)])
        self._into.resume(into)
        self._out.resume(out)
