"""What a permit hands over to the one object that goes on after it."""

from __future__ import annotations

from typing import Any

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.held import Held, exclusive
from discreet.core.receipt import Receipt


class Grant(Held):
    """A description that was paid for, and the bits that its noise comes from: taken once.

    Made by `Permit.open`, by a saved state that is resumed, and by an open stream for its parts: nowhere else.

    Parameters
    ----------
    description : a description with an event and terms
        Public. What was paid for.
    bits : Bits
        Where noise comes from.
    receipt : Receipt, optional
        What it cost; none where a saved state has none.
    """

    def __init__(self, description: Any, bits: Bits, receipt: Receipt | None) -> None:
        self.description, self.bits, self.receipt = description, bits, receipt
        self._taken = False

    @exclusive
    def take(self) -> None:
        """Say that an object goes on from here; refused the second time."""
        if self._taken:
            obstacle = "what was paid for was opened before"
            raise NotPermitted(f"open {self.description.terms}", obstacle, "Ask for another permit.")
        self._taken = True
