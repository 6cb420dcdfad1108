"""What counters of a stream share: what one update may be, the noise that hides it, the price, the end."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.bound import ULP, Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import CELLS, Array, Grid, Steps
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.continual_release import ContinualRelease, OpenStream
from discreet.trust.grant import Grant

UNIT = Bound("linf", 1.0, nonnegative=True)
MOST_NUMBERS = 2**26  # that a stream keeps: whoever asks has a say in how much memory it takes
FINE = 50  # bits between a scale of noise and the grid, at most


@dataclass(frozen=True)
class Updates(CheckedParameters):
    """Updates of a stream: clipped, put on a grid, and hidden by noise in units of what all releases can move by.

    Parameters
    ----------
    noise : Laplace or Gaussian
        Public. Of all releases together: its multiplier is in units of the sensitivity of the whole stream of releases.
    bound : Bound
        Public. What each update is clipped to.
    size : int
        Public. How many numbers an update has.
    neighbors : Neighbors
        Public. Whether an update of zeros (`ADD_REMOVE`) or any other update (`REPLACE`) takes the place of a unit's.
    factor : float
        Public. By how much one unit moves what noise is added to, in the norm of the noise, if each of its updates
        moves by one.
    cells : int
        Public. Bits between the bound and the grid of updates.
    finer : int
        Public. Bits between the grid of updates and that of noise.
    """

    noise: Additive
    bound: Bound
    size: int
    neighbors: Neighbors
    factor: float
    cells: int = CELLS
    finer: int = 0

    def __post_init__(self) -> None:
        check_whole("counter", "size", self.size, most=MOST_NUMBERS)

    @property
    def event(self) -> Event:
        return self.noise.event

    @cached_property
    def scale(self) -> float:
        """The scale of each noise; rounded up."""
        moved = self.bound.sensitivity(self.noise.norm, self.size, self.neighbors)
        return self.noise.multiplier * self.factor * moved * (1 + 8 * ULP)

    @cached_property
    def grid(self) -> Grid:
        """Fine beside the bound, unless noise would not fit its own grid."""
        finest = math.frexp(self.bound.radius)[1] - self.cells
        return Grid(max(finest, math.frexp(self.scale)[1] - FINE + self.finer))

    @property
    def noise_step(self) -> float:
        """The step of the grid on which noise is drawn."""
        return math.ldexp(self.grid.step, -self.finer)

    def steps(self, values: Array) -> Steps:
        """Each update, clipped and cut to the grid; one that is not finite counts as zeros."""
        return self.grid.cut(self.bound.clip(values)).astype(np.int64)

    def drawn(self, bits: Bits, shape: tuple[int, ...]) -> Steps:
        """Independent noise, in steps of its grid."""
        return self.noise.noise(bits, shape, self.scale / self.noise_step)


Described = TypeVar("Described", bound="Counter", covariant=True)


class Counter(ContinualRelease):
    """Release the sum of all updates so far, after every update: a description.

    A subclass has the fields `neighbors` and `contributions`, says what an update may be and how far a unit moves what
    gets noise (`updates`), and how many updates there are at most (`last_clock`).

    Parameters
    ----------
    bound : Bound
        Public. What each update is clipped to; by default numbers from 0 to 1.
    size : int
        Public. How many numbers an update has.
    neighbors : Neighbors
        Public. Whether an update of zeros (`ADD_REMOVE`) or any other update (`REPLACE`) takes the place of a unit's.
    contributions : int
        Public. In how many updates a unit takes part at most: 1 protects single events, more protect whole users.
    """

    longer: ClassVar[str] = "Plan for more, or count by doubling."
    contributions: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.updates.grid  # noqa: B018 - what is wrong with them is found now, before anything is charged

    @property
    @abstractmethod
    def updates(self) -> Updates:
        """What one update may be, and the noise."""

    @property
    @abstractmethod
    def last_clock(self) -> int:
        """After how many updates there is none."""

    @property
    def event(self) -> Event:
        return self.updates.event

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for: one for each update, which is clipped whole."""
        return self.contributions

    @abstractmethod
    def stddev(self, time: int) -> float:
        """The standard deviation of the noise on each number of the release after so many updates."""

    @abstractmethod
    def opened(self, grant: Grant) -> OpenCounter[Any]:
        """The object that takes updates, for whoever has paid: see `open`."""


class OpenCounter(OpenStream[Described]):
    """A counter that is paid for."""

    @exclusive
    @abstractmethod
    def update(self, value: ArrayLike) -> Array:
        """Add one update, and release the sum of all so far, in the shape of the update."""

    @exclusive
    def admit(self, shape: tuple[int, ...], expected: tuple[int, ...], made: int) -> None:
        """Refuse an update, before anything changes: of another shape, after the last, or after the state was saved."""
        own = self.description
        if shape != expected:
            raise ParameterError(own.purpose, f"updates of shape {shape}", f"Give numbers of shape {expected}.")
        if made >= own.last_clock:
            obstacle = f"all {own.last_clock} updates that were planned have been made"
            raise ParameterError(own.purpose, obstacle, own.longer, horizon=own.last_clock)
        self.begin_update()
