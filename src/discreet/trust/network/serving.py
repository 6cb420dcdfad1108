"""A party's end of the line: waits to be asked, answers, and goes on until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from discreet.core.errors import DiscreetError
from discreet.crypto.errors import ProtocolError
from discreet.crypto.messages import Signed
from discreet.trust.network.link import Link, called, listening
from discreet.trust.network.remote import PASSED_OVER
from discreet.trust.party import REFUSAL, Party, Seat

LONGEST_PAUSE = 30.0  # seconds between two attempts to reach the server
Tell = Callable[[str], None]


class Serving:
    """Lets one party take part in the rounds of a server that it calls, or that calls it.

    Parameters
    ----------
    party : Party
        Who takes part.
    tell : callable
        Given a line of text for the party's owner whenever something happens.
    """

    def __init__(self, party: Party, tell: Tell) -> None:
        self._party, self._tell = party, tell

    async def listen(self, address: str) -> None:
        """Wait for the server's calls, for ever."""
        server = await listening(address, self._party.identity, self._party.federation, self._met)
        where = server.sockets[0].getsockname()
        self._tell(f"{self._party.name} listens at {where[0]}:{where[1]}")
        async with server:
            await server.serve_forever()

    async def connect(self, address: str) -> None:
        """Call the server, and again whenever the line breaks, for ever."""
        pause = 0.1
        while True:
            try:
                link = await called(address, self._party.identity, self._party.federation)
                self._tell(f"{self._party.name} is connected to {address}")
                pause = 0.1
                await self._met(link)
            except (ConnectionError, ProtocolError) as why:
                self._tell(f"{self._party.name}: {why}")
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _met(self, link: Link) -> None:
        """Answer all that the server says on this line, until it breaks."""
        if link.name != self._party.federation.server.name:
            link.close()
            return
        try:
            await link.send((await asyncio.to_thread(self._party.hello)).to_bytes())
            seat: Seat | None = None
            while True:
                data = await link.receive()
                seat, answer = await asyncio.to_thread(self._answered, seat, data)
                if answer is not None:
                    await link.send(answer.to_bytes())
        except ConnectionError as why:
            self._tell(f"{self._party.name}: {why}")

    def _answered(self, seat: Seat | None, data: bytes) -> tuple[Seat | None, Signed | None]:
        """The seat after this message, and what the party says to it: nothing to one that is not its turn."""
        try:
            signed = Signed.from_bytes(data)
            if signed.message.kind == "call":
                seat = self._party.seated(signed)
                self._tell(f"{self._party.name} takes part: {seat.purpose}")
                return seat, seat.advertise()
            return seat, None if seat is None else seat.answer(signed)
        except PASSED_OVER:
            return seat, None
        except DiscreetError as refusal:
            self._tell(f"{self._party.name} refuses: {refusal}")
            return None, self._party.said(signed.message.round, REFUSAL, str(refusal).encode())
