"""A server's connections to its parties: it calls those whose addresses it has, and accepts calls of the others."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Sequence
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.held import unheld
from discreet.crypto.errors import (
    UNOPENED,
    BadSignature,
    Disagreement,
    Malformed,
    OutOfOrder,
    ProtocolError,
    UnknownParty,
)
from discreet.crypto.identity import Identity
from discreet.crypto.messages import Message, Signed
from discreet.trust.federation import Federation
from discreet.trust.network.link import LONGEST_CALL, Link, called, host_and_port
from discreet.trust.network.listener import Listener, listening
from discreet.trust.party import HELLO, LONGEST_REFUSAL, REFUSAL
from discreet.trust.round import Hear, Refused

LONGEST_HELLO = 1 << 16  # bytes
NOT_DUE = 100  # messages at a step that are not the one that is due
PASSED_OVER = (BadSignature, Malformed)
"""What is wrong with a message that was garbled; the one that is due may still come."""
LOG = logging.getLogger(__name__)
PAUSE = 0.05  # seconds between two attempts to reach a party
AGAIN = 1.0  # seconds that a later round waits for who was there in the last


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


@unheld("own turns")
class Connections:
    """The connections to all parties that were reached.

    Parameters
    ----------
    federation : Federation
        Public. What all agreed on.
    identity : Identity
        The server's.
    addresses : sequence of str
        Where parties listen.
    patience : float
        Public. How many seconds a party may take to say hello, and all of them to be met the first time.
    """

    def __init__(self, federation: Federation, identity: Identity, addresses: Sequence[str], patience: float) -> None:
        for address in addresses:
            host_and_port(address)
        self._federation, self._identity, self._addresses = federation, identity, tuple(addresses)
        self._patience = patience
        self._listener: Listener | None = None
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._names: dict[str, str] = {}
        self._met: dict[str, Remote] = {}
        self._before: int | None = None
        self.absent: dict[str, str] = {}
        """Why parties could not be reached, by name or address."""

    async def open(self, address: str) -> str:
        """Accept parties' calls; returns the address, with the port if the system was to choose it."""
        self._listener = await listening(address, self._identity, self._federation, self._welcome)
        return self._listener.address

    async def gathered(self, expected: int) -> dict[str, Remote]:
        """The parties that are present.

        The first time it waits for the expected number, as long as `patience`. Later it calls absent parties once, and
        waits a moment for as many as were present the last time.
        """
        loop, first = asyncio.get_running_loop(), self._before is None
        wanted = expected if self._before is None else self._before
        deadline = loop.time() + (self._patience if first else min(AGAIN, self._patience))
        tried: set[str] = set()
        while loop.time() < deadline:
            tried |= self._called(set() if first else tried)
            under_way = [self._calls[address] for address in tried & set(self._calls)]
            if len(self._present) >= wanted and (first or not under_way):
                break
            await (asyncio.wait(under_way, timeout=PAUSE) if under_way else asyncio.sleep(PAUSE))
        self._before = len(self._present)
        return self._present

    async def close(self) -> None:
        """Hang up on everybody."""
        if self._listener is not None:
            await self._listener.close()
        for call in self._calls.values():
            call.cancel()
        await asyncio.gather(*self._calls.values(), return_exceptions=True)
        await asyncio.gather(*(one.down() for one in self._met.values()))

    @property
    def _present(self) -> dict[str, Remote]:
        return {name: one for name, one in self._met.items() if one.present}

    def _called(self, skipped: set[str]) -> set[str]:
        """Call all absent parties except these; returns whom. A call that takes long continues in the background."""
        for address, call in list(self._calls.items()):
            if call.done():
                del self._calls[address]
                call.result()
        absent = {address for address in self._addresses if self._names.get(address) not in self._present}
        for address in (fresh := absent - skipped - set(self._calls)):
            self._calls[address] = asyncio.ensure_future(self._call(address))
        return fresh

    async def _call(self, address: str) -> None:
        self.absent[address] = "it was called and has not said hello"
        try:
            async with asyncio.timeout(self._patience):
                link = await called(address, self._identity, self._federation)
                self._names[address] = link.name
                await self._welcome(link)
            del self.absent[address]
        except (ConnectionError, ProtocolError) as why:
            self.absent[address] = str(why)
        except TimeoutError:
            self.absent[address] = f"it did not answer within {self._patience:g} s"

    async def _welcome(self, link: Link) -> None:
        """Accept a party, in place of an earlier connection to it; or send it the reason for a refusal, and hang up."""
        self.absent[link.name] = "it was met and has not said hello"
        try:
            met = await asyncio.wait_for(Remote.met(link, self._federation), self._patience)
            if link.name in self._met:
                self._met[link.name].cut()
            self._met[link.name] = met
            self.absent.pop(link.name, None)
        except ProtocolError as why:
            self.absent[link.name] = str(why)
            LOG.warning("%s was turned away: %s", link.name, why)
            await self._refused(link, str(why))
        except (ConnectionError, TimeoutError) as why:
            self.absent[link.name] = str(why) or f"it did not say hello within {self._patience:g} s"
        finally:
            if link.name in self.absent:
                link.cut()

    async def _refused(self, link: Link, words: str) -> None:
        refusal = Message(HELLO, self._identity.name, REFUSAL, words.encode()[:LONGEST_REFUSAL]).signed(self._identity)
        with contextlib.suppress(ConnectionError):
            await link.send(refusal.to_bytes())
            await link.down()
