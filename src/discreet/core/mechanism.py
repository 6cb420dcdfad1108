"""What turns a secret answer into a release."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Protocol, TypeVar

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
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


def check_knob(mechanism: str, name: str, value: float, least: float = 2.0**-40, most: float = 2.0**40) -> None:
    """Refuse a multiplier or an epsilon that is not a number in a range where noise can be drawn."""
    if not (isinstance(value, int | float) and math.isfinite(value) and least <= value <= most):
        raise ParameterError(
            mechanism,
            f"{name} is {value}",
            f"Give a number between {least:.3g} and {most:.3g}.",
            knob=name,
            value=value,
        )
