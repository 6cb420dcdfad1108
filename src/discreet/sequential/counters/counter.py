"""What counters of a stream share: their price, their end, and the sum that is released after every update."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.held import exclusive
from discreet.sequential.continual_release import ContinualRelease, OpenStream
from discreet.sequential.counters.updates import Updates
from discreet.trust.grant import Grant

Described = TypeVar("Described", bound="Counter", covariant=True)


class Counter(ContinualRelease):
    """Release the sum of all updates so far, after every update: a description.

    A subclass has the fields `neighbors` and `contributions`, says what an update may be and how far a unit moves what
    gets noise (`updates`), and how many updates there are at most (`last_clock`).
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
        """The price of all releases."""
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
