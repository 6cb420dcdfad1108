"""How a server reaches a party: one that is an object here, or one at the other end of a connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from discreet.core.errors import DiscreetError
from discreet.core.held import Held, exclusive
from discreet.crypto.messages import Signed
from discreet.trust.party import Party, Seat

Hear = Callable[[Signed], None]


class PartyChannel(Protocol):
    """A party as the server sees it.

    `units` is how many units it has, where that is public, and `secret` whether its noise is.
    """

    name: str
    secret: bool

    @property
    def units(self) -> int: ...

    async def exchange(self, message: Signed, hear: Hear, most: int) -> None:
        """Pass a message to the party and receive its answer, of at most `most` bytes.

        Raises
        ------
        ConnectionError
            The party is gone.
        DiscreetError
            It refuses, in its own words, or says what cannot be right.
        """
        ...


class InProcess(Held):
    """A party that is an object of this process: shows and tests the protocol, and hides nothing from this process."""

    def __init__(self, party: Party) -> None:
        self.name, self.secret = party.name, party.bits.secret
        self._party = party
        self._seat: Seat | None = None

    @property
    def units(self) -> int:
        """The number of units."""
        return self._party.source.units()

    async def exchange(self, message: Signed, hear: Hear, most: int) -> None:
        """Pass a message to the party and hear its answer."""
        if (answer := self._answered(message)) is not None:
            hear(answer)

    @exclusive
    def _answered(self, message: Signed) -> Signed | None:
        if message.message.kind == "call":
            self._seat = self._party.seated(message)
            return self._seat.advertise()
        return None if self._seat is None else self._seat.answer(message)


class Refused(DiscreetError):
    """A party does not take part, and says why."""
