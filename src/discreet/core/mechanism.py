"""What turns a secret answer into a release."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeVar

from discreet.core.bits import Bits
from discreet.core.events import Event

Release_co = TypeVar("Release_co", covariant=True)


class Mechanism(Protocol[Release_co]):
    """A frozen dataclass that turns an answer into a release, and knows its price before any data.

    `knob` names the field that calibration turns: "multiplier" (more is more private) or "epsilon" (more is less).
    `worst_neighbors` gives the two answers between which the audit tries to tell.
    """

    knob: ClassVar[str]

    @property
    def event(self) -> Event: ...

    def release(self, answer: Any, bits: Bits) -> Release_co: ...

    def worst_neighbors(self) -> Any: ...
