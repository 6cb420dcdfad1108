"""A party at the other end of a line, as the server sees it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, BadSignature, Disagreement, Malformed, OutOfOrder, UnknownParty
from discreet.crypto.messages import Message, Signed
from discreet.trust.federation import Federation
from discreet.trust.network.link import LONGEST_CALL, Link
from discreet.trust.party import HELLO, LONGEST_REFUSAL, REFUSAL
from discreet.trust.party_channel import Hear, Refused

LONGEST_HELLO = 1 << 16  # bytes
NOT_DUE = 100  # messages at a step that are not the one that is due
PASSED_OVER = (BadSignature, Malformed)
"""What is wrong with a message that was garbled; the one that is due may still come."""


class Remote:
    """A party on another host.

    Parameters
    ----------
    link : Link
        The line to it.
    federation : Federation
        Public. What all agreed on.
    facts : mapping
        What it said of itself when it was met.
    """

    def __init__(self, link: Link, federation: Federation, facts: dict[str, Any]) -> None:
        self.name, self._link, self._federation = link.name, link, federation
        self._units, self.secret = facts.get("units"), facts.get("secret") is True

    @classmethod
    async def met(cls, link: Link, federation: Federation) -> Remote:
        """The party that says hello on this line."""
        if link.name not in federation.names:
            raise UnknownParty("hello", f"{link.name!r} is no party", "", UNOPENED)
        message = Signed.from_bytes(await link.receive(LONGEST_HELLO), link.name).verified(federation.roster)
        if (message.kind, message.round) != (HELLO, HELLO):
            raise Malformed("hello", f"{link.name!r} says something else", "", UNOPENED)
        facts = _facts(message)
        if facts.get("federation") != federation.digest.hex():
            raise Disagreement("hello", f"{link.name!r} has another federation file", "Give all the same.", UNOPENED)
        return cls(link, federation, facts)

    @property
    def present(self) -> bool:
        """Whether the line is open."""
        return self._link.open

    @property
    def units(self) -> int:
        """The number of units; parties send it only where it is public."""
        if not isinstance(self._units, int):
            raise Disagreement("number of units", f"{self.name!r} does not send it", "", UNOPENED)
        return self._units

    async def exchange(self, message: Signed, hear: Hear, most: int) -> None:
        """Pass a message to the party and hear its answer."""
        data = message.to_bytes()
        if message.message.kind == "call" and len(data) > LONGEST_CALL:
            remedy = "Ask with fewer or smaller parameters."
            raise ParameterError("call", f"it has {len(data)} bytes, and parties take {LONGEST_CALL}", remedy)
        try:
            await self._link.send(data)
            for _ in range(NOT_DUE):
                if await self._heard(message.message, hear, most):
                    return
            raise ConnectionError(f"{self.name} says {NOT_DUE} things, and not what is due")
        except (asyncio.CancelledError, ConnectionError):
            self.cut()
            raise

    def cut(self) -> None:
        """Hang up at once."""
        self._link.cut()

    async def down(self) -> None:
        """Hang up, and wait until it is done."""
        await self._link.down()

    async def _heard(self, asked: Message, hear: Hear, most: int) -> bool:
        """Whether the next frame was the answer that is due: on this line, its owner alone is heard."""
        signed = Signed.from_bytes(await self._link.receive(most), self.name)
        try:
            hear(signed)
        except OutOfOrder:
            message = signed.verified(self._federation.roster)
            if (message.kind, message.round) == (REFUSAL, asked.round):
                raise Refused("it refuses", _words(message), "", "") from None
            return False
        except PASSED_OVER:
            return False
        return True


def _words(message: Message) -> str:
    """What a refusal says, without anything that would upset a terminal."""
    words = message.body[:LONGEST_REFUSAL].decode(errors="replace")
    return "".join(letter if letter.isprintable() else " " for letter in words).rstrip(".")


def _facts(message: Message) -> dict[str, Any]:
    try:
        facts = json.loads(message.body)
    except (ValueError, RecursionError) as why:
        raise Malformed("hello", f"{message.sender!r} sent no JSON", "", UNOPENED) from why
    if not isinstance(facts, dict):
        raise Malformed("hello", f"{message.sender!r} sent no table of facts", "", UNOPENED)
    return facts
