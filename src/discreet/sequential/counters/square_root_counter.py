"""Running sums with the least noise: by the square root of the matrix that adds up."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.exact import Exact
from discreet.core.grid import Array, Steps
from discreet.core.held import Held, exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.continual_release import State, fitting
from discreet.sequential.counters.counter import UNIT, Counter, OpenCounter, Updates
from discreet.sequential.counters.square_root_factor import BINARY, SquareRootFactor, square_root_factor
from discreet.sequential.reading import update_of
from discreet.trust.grant import Grant

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


LONGEST = 2**16
CELLS = 20  # bits between the bound and the grid: with those of a coefficient and of sums, all fit a float64


@dataclass(frozen=True, eq=False)
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

    Guarantee
    ---------
    `noise.event` for all releases together. A unit moves C x by at most `SquareRootFactor.norm` times what one update
    moves by, and releases are computed from C x + z alone: updates are whole grid steps and coefficients of C multiples
    of 2^-22, so C x is on the grid on which the rounded noise is drawn, without error. It holds also where updates are
    chosen after looking at earlier releases: Denisov, McMahan, Rush, Smith and Guha Thakurta 2022, Theorem 2.1.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Gaussian
    >>> visits = SquareRootCounter(1024, Gaussian(0.1))
    >>> round(visits.factor.rmse(), 2)
    3.11
    >>> counter = visits.open(Budget(100.0, 1e-6))
    >>> round(float(counter.update(1.0)))
    1
    """

    purpose: ClassVar[str] = "square root counter"

    horizon: int
    noise: Additive
    bound: Bound = UNIT
    size: int = 1
    _: KW_ONLY
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    contributions: int = 1

    def check(self) -> None:
        check_whole(self.purpose, "horizon", self.horizon, most=LONGEST)
        check_whole(self.purpose, "contributions", self.contributions, most=self.horizon)
        if self.noise.norm != "l2":
            raise ParameterError(self.purpose, f"the noise is {self.noise}", "Give Gaussian noise.")

    @property
    def last_clock(self) -> int:
        return self.horizon

    @property
    def factor(self) -> SquareRootFactor:
        """The matrices B and C."""
        return square_root_factor(self.horizon)

    @cached_property
    def updates(self) -> Updates:
        """Updates whose unit moves C x by the norm of the factor."""
        moved = self.factor.norm(self.contributions)
        return Updates(self.noise, self.bound, self.size, self.neighbors, moved, CELLS, BINARY)

    def stddev(self, time: int) -> float:
        return self.updates.scale * math.hypot(*self.factor.left[: int(time)].tolist())

    def opened(self, grant: Grant) -> OpenSquareRoot:
        return OpenSquareRoot(grant)


class OpenSquareRoot(OpenCounter[SquareRootCounter]):
    """A square root counter that is paid for: all updates, and what was released of them."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        own = self.description
        self._updates, self.clock = own.updates, 0
        self._into = Exact(StreamingConvolution(own.factor.numerators.astype(np.float64), own.size))
        self._out = StreamingConvolution(own.factor.left, own.size)

    def update(self, value: ArrayLike) -> Array:
        size = self.description.size
        given = update_of(value, size)
        self.admit((given.size,), (size,), self.clock)
        steps = self._updates.steps(given.reshape(1, -1))[0].astype(np.float64)
        self.clock += 1

        def into(rows: StreamingConvolution) -> Steps:
            return rows.push(steps).astype(np.int64)

        noisy = self._into.noised(into, self._updates.drawn(self._bits, (size,)))
        return (self._out.push(noisy.astype(np.float64)) * self._updates.noise_step).reshape(given.shape)

    def _state(self) -> State:
        """All updates, and what was released of them."""
        return {"into": self._into.saved().rows[: self.clock], "out": self._out.rows[: self.clock]}

    def _restore(self, state: State) -> None:
        into = fitting(state, "into", self._into.saved().rows, self.description.horizon)
        out = fitting(state, "out", self._out.rows[: len(into)])
        self._into.saved().resume(into)
        self._out.resume(out)
        self.clock = len(into)
