"""What counters of a stream share: their price, their end, and a state that is used once."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import exclusive
from discreet.core.neighbors import Neighbors
from discreet.noise.system_bits import system_bits
from discreet.sequential.counters.updates import Updates
from discreet.sequential.resumable import Resumable


class Counter(Resumable):
    """Release the sum of all updates so far, after every update.

    Parameters
    ----------
    horizon : int
        Public. How many updates there are at most.
    updates : Updates
        Public. What one update may be, and the noise.
    bits : Bits, optional
        Where noise comes from; secret bits of this process by default.
    """

    longer: ClassVar[str] = "Plan for more, or count by doubling."

    def __init__(self, horizon: int, updates: Updates, bits: Bits | None) -> None:
        self.horizon, self._updates = horizon, updates
        self._bits = system_bits() if bits is None else bits

    @property
    def neighbors(self) -> Neighbors:
        """The relation that the price speaks of."""
        return self._updates.neighbors

    @property
    def contributions(self) -> int:
        """In how many updates a unit takes part at most."""
        return self._updates.contributions

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self._bits.secret

    @property
    def event(self) -> Event:
        """The price of all releases."""
        return self._updates.event

    @abstractmethod
    def stddev(self, time: int) -> float:
        """The standard deviation of the noise on each number of the release after so many updates."""

    @exclusive
    @abstractmethod
    def update(self, value: ArrayLike) -> Array:
        """Add one update, and release the sum of all so far, in the shape of the update."""

    @exclusive
    def admit(self, shape: tuple[int, ...], expected: tuple[int, ...], made: int) -> None:
        """Refuse an update, before anything changes: of another shape, after the last, or after the state was saved."""
        if shape != expected:
            raise ParameterError(self.purpose, f"updates of shape {shape}", f"Give numbers of shape {expected}.")
        if made >= self.horizon:
            obstacle = f"all {self.horizon} updates that were planned have been made"
            raise ParameterError(self.purpose, obstacle, self.longer, horizon=self.horizon)
        self.begin_update()
