"""What the two ends of a protocol for sums have in common: whoever drives them knows nothing else of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Steps
from discreet.crypto.messages import Signed

Words = NDArray[np.uint64]
Vector = Words | Steps
"""Integers of 64 bits."""


@dataclass(frozen=True, eq=False)
class Total:
    """The sum modulo 2**64, whose vectors are in it, and who gave false shares, which did no harm."""

    vector: Words = field(repr=False)
    survivors: tuple[str, ...]
    liars: tuple[str, ...] = ()


class Speaker(Protocol):
    """A party in one round: it begins, and answers each message of the relay with one of its own."""

    @property
    def most(self) -> int:
        """The longest message of the relay in this round, in bytes."""

    def begin(self) -> Signed:
        """The first word."""

    def answer(self, heard: Signed, vector: Callable[[], Vector]) -> Signed:
        """The answer to what was heard; the own vector is asked for once, when it is due."""


class Relay(Protocol):
    """The one who carries messages in one round, and whom nobody has to trust with what is in them."""

    @property
    def most(self) -> int:
        """The longest message of a party in this round, in bytes."""

    def receive(self, signed: Signed) -> None:
        """Hear one party, or refuse what it says."""

    def passed_on(self) -> Mapping[str, Signed]:
        """End a step: what goes to whom next. Nothing to nobody, once the last step is over."""

    def total(self) -> Total:
        """The sum over all that were heard to the end."""
