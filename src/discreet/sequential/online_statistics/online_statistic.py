"""What statistics of a stream share: a counter that pays, and estimates with intervals."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.releases.columns import in_words
from discreet.schema.schema import Number
from discreet.schema.value import number_of
from discreet.sequential.counters.doubling_counter import DoublingCounter
from discreet.sequential.counters.square_root_counter import SquareRootCounter
from discreet.sequential.resumable import Resumable, State


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


class OnlineStatistic(Resumable):
    """A statistic of all records so far, computed from running sums.

    Parameters
    ----------
    bounds : (float, float)
        Public. Values are clipped to them.
    noise : Gaussian
        Public. Of all releases together.
    horizon : int, optional
        Public. How many updates there are at most; without it, counters for twice as many follow one another.
    bound : Bound
        Public. Of what one record adds to the sums.
    size : int
        Public. How many sums there are.
    """

    def __init__(
        self,
        bounds: tuple[float, float],
        noise: Additive,
        horizon: int | None,
        bound: Bound,
        size: int,
        neighbors: Neighbors,
        contributions: int,
        confidence: float,
        bits: Bits | None,
    ) -> None:
        self.column = Number(*bounds)
        self.column.check_scale(self.purpose)
        check_positive(self.purpose, "confidence", confidence, least=0.5, most=1 - 1e-9)
        self.confidence = float(confidence)
        self._counter: DoublingCounter | SquareRootCounter = (
            DoublingCounter(noise, bound, size, neighbors=neighbors, contributions=contributions, bits=bits)
            if horizon is None
            else SquareRootCounter(
                horizon, noise, bound, size, neighbors=neighbors, contributions=contributions, bits=bits
            )
        )

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self._counter.secret

    @property
    def event(self) -> Event:
        """The price of all releases."""
        return self._counter.event

    @property
    def neighbors(self) -> Neighbors:
        """The relation that the price speaks of."""
        return self._counter.neighbors

    @property
    def contributions(self) -> int:
        """In how many updates a unit takes part at most."""
        return self._counter.contributions

    @property
    def clock(self) -> int:
        """How many updates were made."""
        return self._counter.clock

    def state(self) -> State:
        """All that the next releases depend on. Secret: as much so as the stream."""
        return self._counter.state()

    def restore(self, state: State) -> None:
        """Go on from a state of a statistic with the same parameters."""
        self._counter.restore(state)

    @exclusive
    def _summed(self, value: float | None) -> Array:
        """The noisy sums, with what this value adds."""
        self.begin_update()
        return self._counter.update(self._added(value))

    @abstractmethod
    def _added(self, value: float | None) -> Array:
        """What one update adds to the sums."""

    def _unit(self, value: float | None) -> float:
        """A value between -1 and 1; nan where there is none."""
        number = np.float64(number_of(value))
        low, high = self.column.lower, self.column.upper
        clipped = np.clip(number, low, high)
        return float(np.clip((clipped - low) / (high - low) * 2 - 1, -1.0, 1.0)) if np.isfinite(number) else np.nan
