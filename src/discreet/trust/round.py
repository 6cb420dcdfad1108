"""One round of a secure sum, as the server drives it, and how it reaches a party: here, or over a connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from discreet.core.errors import DiscreetError
from discreet.core.held import Held, exclusive, unheld
from discreet.crypto.errors import ProtocolError
from discreet.crypto.identity import Identity
from discreet.crypto.messages import Message, Signed
from discreet.crypto.rounds.speaker import Relay, Total
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.trust.call import Call
from discreet.trust.federation import Federation
from discreet.trust.party import Party, Seat

Hear = Callable[[Signed], None]
LOG = logging.getLogger(__name__)


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
        return self._party.source.units()

    async def exchange(self, message: Signed, hear: Hear, most: int) -> None:
        """Pass a message to the party and hear its answer."""
        if (answer := self._answered(message)) is not None:
            hear(answer)

    @exclusive
    def _answered(self, message: Signed) -> Signed | None:
        if message.message.kind == "call":
            self._seat = self._party.seated(message)
            return self._seat.begin()
        return None if self._seat is None else self._seat.answer(message)


class Refused(DiscreetError):
    """A party does not take part, and says why."""


@unheld("one call")
class Round:
    """The server's part in one round: passes messages on, and goes on without those who do not answer.

    Parameters
    ----------
    identity : Identity
        The server's.
    federation : Federation
        Public. What all agreed on.
    terms : Terms
        Public. Of this round.
    rounds : UsedRounds
        The rounds that this server has run.
    patience : float, optional
        Public. How many seconds a step may take before the round goes on without those who have not answered; where
        not given, all are waited for.
    """

    def __init__(
        self,
        identity: Identity,
        federation: Federation,
        terms: Terms,
        rounds: UsedRounds,
        patience: float | None = None,
    ) -> None:
        self._identity, self._terms, self._patience = identity, terms, patience
        self._relay: Relay = federation.protocol.relay(identity, terms, federation.roster, rounds)
        self.left: dict[str, str] = {}
        """Who is not in the sum, and why."""

    def transcript(self, call: Call) -> bytes | None:
        """All that was said in public, for whoever checks it later; nothing where the scheme has no such thing."""
        written = getattr(self._relay, "transcript", None)
        return None if written is None else written(call.written())

    async def total(self, call: Call, channels: Mapping[str, PartyChannel]) -> Total:
        """The sum over all who stay; `left` has who did not, and why."""
        relay, present = self._relay, dict(channels)
        opening = Message(self._terms.round, self._identity.name, "call", call.written()).signed(self._identity)
        try:
            await self._heard(present, dict.fromkeys(present, opening))
            while messages := relay.passed_on():
                await self._heard(present, messages)
            total = relay.total()
        except ProtocolError as why:
            asked = f"round {self._terms.round!r}"
            obstacle = why.obstacle if why.asked == asked else f"{why.asked}: {why.obstacle}"
            reasons = "".join(f"; {name}: {reason}" for name, reason in self.left.items())
            raise type(why)(asked, obstacle + reasons, why.remedy, why.consequence, **why.values) from why
        for name in total.liars:
            LOG.warning("round %s: %s gave false shares; the sum was opened without them", self._terms.round, name)
        return total

    async def _heard(self, present: dict[str, PartyChannel], messages: Mapping[str, Signed]) -> None:
        """Pass everybody its message and hear all answers; who gives none is not present any more."""
        tasks = {
            asyncio.ensure_future(one.exchange(messages[name], self._relay.receive, self._relay.most)): name
            for name, one in present.items()
            if name in messages
        }
        if not tasks:
            return
        try:
            await asyncio.wait(tasks, timeout=self._patience)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task, name in tasks.items():
            if task.cancelled():
                self._leaves(present, name, f"it did not answer within {self._patience:g} s")
            elif isinstance(why := task.exception(), DiscreetError | ConnectionError):
                self._leaves(present, name, str(why) or "it is gone")
            elif why is not None:
                raise why

    def _leaves(self, present: dict[str, PartyChannel], name: str, why: str) -> None:
        del present[name]
        self.left[name] = why.rstrip(".")
