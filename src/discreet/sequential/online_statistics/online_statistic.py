"""What statistics of a stream share: a counter that pays, a bound for close contributions, estimates with intervals."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_positive
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.releases.columns import in_words
from discreet.schema.schema import Number
from discreet.schema.value import number_of
from discreet.sequential.continual_release import ContinualRelease, OpenStream, State
from discreet.sequential.counters.doubling_counter import DoublingCounter, OpenDoubling
from discreet.sequential.counters.square_root_counter import OpenSquareRoot, SquareRootCounter
from discreet.trust.grant import Grant


@dataclass(frozen=True)
class DiameterBound(Bound):
    """Contributions of which no two are farther apart in l2 than a known distance.

    Parameters
    ----------
    norm, radius, nonnegative
        Public. As for `Bound`.
    apart : float
        Public. The distance, with what grids add to it. Only who makes the contributions may state it.

    Examples
    --------
    >>> DiameterBound("l2", 1.25, apart=2.0).sensitivity("l2", 2, Neighbors.REPLACE)
    2.0
    """

    apart: float = math.inf

    def sensitivity(self, norm: Norm, size: int, neighbors: Neighbors) -> float:
        """The farthest that one unit moves their sum, in any norm; rounded up."""
        general = super().sensitivity(norm, size, neighbors)
        return min(general, self.apart) if norm == "l2" and neighbors is Neighbors.REPLACE else general


def on_a_grid(apart: float, size: int, multiplier: float, contributions: int) -> float:
    """How far apart vectors may be on the grid of a square root counter, if they are this far apart before.

    A grid that the noise makes coarser has steps of at most 2^-27 of the scale of the noise, and moves the distance of
    two vectors by at most 2 sqrt(size) of them. The scale is at most 2.2 times multiplier, contributions and distance,
    since one update moves by at most 2.2 what gets noise. Finer grids change the distance by less than 2^-16 of it.
    """
    return apart * (1 + 2.0**-16 + 2.0**-23 * math.sqrt(size) * multiplier * contributions)


Release = TypeVar("Release")


@dataclass(frozen=True)
class OnlineEstimate:
    """A number of all records so far, with an interval for the noise.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        The ends of an interval that holds the exact number of these records, at this time, with the confidence that was
        asked for.

    Examples
    --------
    >>> print(OnlineEstimate(3.14, 3.0, 3.28))
    3.14 ± 0.14
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return in_words(self.value, self.low, self.high)


class OnlineStatistic(ContinualRelease, Generic[Release]):
    """A statistic of all records so far, computed from running sums: what its descriptions share.

    A subclass has the fields `bounds`, `noise`, `horizon`, `neighbors`, `contributions` and `confidence`, and says what
    a record adds (`vector_bound`, `size` and `added`) and what noisy sums show (`released`).

    Parameters
    ----------
    bounds : (float, float)
        Public. Values are clipped to them.
    noise : Gaussian
        Public. Its multiplier is in units of what one unit moves all sums of all times by.
    horizon : int, optional
        Public. How many updates there are at most, up to 65,536; without it the stream has no end.
    neighbors : Neighbors
        Public. `REPLACE`: every update is a record, of which one may be another, so their number is the time.
        `ADD_REMOVE`: an update may be no record (None or nan), and whether it is one is hidden.
    contributions : int
        Public. In how many updates a unit takes part at most.
    confidence : float
        Public. Of the interval of each number at each time.
    """

    bounds: tuple[float, float]
    noise: Additive
    horizon: int | None
    contributions: int
    confidence: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self.column.check_scale(self.purpose)
        check_positive(self.purpose, "confidence", self.confidence, least=0.5, most=1 - 1e-9)
        self.counter.event  # noqa: B018 - what is wrong with it is found now, before anything is charged

    @property
    @abstractmethod
    def vector_bound(self) -> Bound:
        """Of what one record adds to the sums."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many sums there are."""

    @abstractmethod
    def added(self, value: float | None) -> Array:
        """What one update adds to the sums."""

    @abstractmethod
    def released(self, sums: Array, time: int) -> Release:
        """What noisy sums show, after so many updates: post-processing."""

    @cached_property
    def column(self) -> Number:
        """The values, between their bounds."""
        return Number(*self.bounds)

    @property
    def counted(self) -> bool:
        """Whether an update may be no record, so that their number is hidden."""
        return self.neighbors is Neighbors.ADD_REMOVE

    @cached_property
    def counter(self) -> DoublingCounter | SquareRootCounter:
        """What adds up, and has the noise; without a horizon, counters for twice as many follow one another."""
        noise, bound, size = self.noise, self.vector_bound, self.size
        relation, each = self.neighbors, self.contributions
        if self.horizon is None:
            return DoublingCounter(noise, bound, size, neighbors=relation, contributions=each)
        return SquareRootCounter(self.horizon, noise, bound, size, neighbors=relation, contributions=each)

    @property
    def event(self) -> Event:
        return self.counter.event

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for."""
        return self.contributions

    def unit(self, value: float | None) -> float:
        """A value between -1 and 1; nan where there is none."""
        number = np.float64(number_of(value))
        low, high = self.column.lower, self.column.upper
        clipped = np.clip(number, low, high)
        return float(np.clip((clipped - low) / (high - low) * 2 - 1, -1.0, 1.0)) if np.isfinite(number) else np.nan

    def opened(self, grant: Grant) -> OpenStatistic[Release]:
        return OpenStatistic(grant)


class OpenStatistic(OpenStream[OnlineStatistic[Release]]):
    """A statistic that is paid for: its counter."""

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        self._counter: OpenDoubling | OpenSquareRoot = self._part(self.description.counter)

    @property
    def clock(self) -> int:
        """How many updates were made."""
        return self._counter.clock

    def _state(self) -> State:
        return self._counter._state()

    def _restore(self, state: State) -> None:
        self._counter._restore(state)

    @exclusive
    def update(self, value: float | None) -> Release:
        """Take one record, or None where there is none, and release what is known of all so far.

        Under replace, None and what is not finite count as the middle of the bounds.
        """
        self.begin_update()
        sums = self._counter.update(self.description.added(value))
        return self.description.released(sums, self.clock)
