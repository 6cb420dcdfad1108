"""A party's end of the connection: waits for calls and answers them, until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from discreet.core.errors import DiscreetError
from discreet.crypto.errors import OutOfOrder, ProtocolError
from discreet.crypto.messages import Signed
from discreet.trust.network.link import LONGEST_CALL, Link, called
from discreet.trust.network.listener import listening
from discreet.trust.party import LONGEST_REFUSAL, REFUSAL, Party, Seat

PAUSE = 0.1  # seconds between two attempts to reach the server; twice as long after each that came to nothing
LONGEST_PAUSE = 30.0
FAILED = "it could not answer; its owner knows why"
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
        party.tell = tell

    async def listen(self, address: str) -> None:
        """Wait for the server's calls, until cancelled."""
        listener = await listening(address, self._party.identity, self._party.federation, self._answering)
        self._begun(f"listens at {listener.address}")
        try:
            await asyncio.Event().wait()
        finally:
            await listener.close()

    async def connect(self, address: str) -> None:
        """Call the server, and again whenever the line breaks, until cancelled."""
        pause = PAUSE
        while True:
            try:
                link = await called(address, self._party.identity, self._party.federation)
                self._begun(f"is connected to {address}")
                pause = PAUSE if await self._answering(link) else pause
            except (ConnectionError, ProtocolError) as why:
                self._tell(f"{self._party.name}: {why}")
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _begun(self, words: str) -> None:
        self._tell(f"{self._party.name} {words}")
        self._tell(f"{self._party.name} is in the federation of digest {self._party.federation.digest.hex()}")

    async def _answering(self, link: Link) -> bool:
        """Answer all that the server says on this line, until it breaks; returns whether anything was asked."""
        seat: Seat | None = None
        asked = False
        try:
            if link.name != self._party.federation.server.name:
                raise ConnectionError(f"{link.name} is at the other end, who is not the server")
            await link.send((await asyncio.to_thread(self._hello)).to_bytes())
            while True:
                data = await link.receive(LONGEST_CALL if seat is None else max(LONGEST_CALL, seat.most))
                seat, answer = await asyncio.to_thread(self._answered, seat, data)
                if answer is not None:
                    asked = True
                    await link.send(answer.to_bytes())
        except (ConnectionError, DiscreetError) as why:
            self._tell(f"{self._party.name}: {why}")
            return asked
        finally:
            link.cut()

    def _hello(self) -> Signed:
        try:
            return self._party.hello()
        except DiscreetError:
            raise
        except Exception as why:
            raise _failure(why) from why

    def _answered(self, seat: Seat | None, data: bytes) -> tuple[Seat | None, Signed | None]:
        """The seat after this message, and what the party says to it: nothing to one that is garbled, old or late."""
        party = self._party
        signed = Signed.from_bytes(data, party.federation.server.name)
        try:
            message = signed.verified(party.federation.roster)
        except ProtocolError:
            return seat, None
        try:
            return self._taken_up(seat, signed)
        except OutOfOrder:
            return seat, None
        except Exception as why:
            refusal = why if isinstance(why, DiscreetError) else _failure(why)
        self._tell(f"{party.name} refuses: {refusal}")
        words = (FAILED if isinstance(refusal, Failure) else str(refusal)).encode()[:LONGEST_REFUSAL]
        return seat if message.kind == "call" else None, party.said(message.round, REFUSAL, words)

    def _taken_up(self, seat: Seat | None, signed: Signed) -> tuple[Seat | None, Signed | None]:
        """A call opens a new seat, in place of that in an earlier round; all else is for the seat that there is."""
        message = signed.message
        if message.kind == REFUSAL:
            self._tell(f"{self._party.name}: {message.sender} refuses: {message.body.decode(errors='replace')}")
        elif message.kind != "call":
            return seat, None if seat is None else seat.answer(signed)
        elif seat is None or seat.round != message.round:
            seat = self._party.seated(signed)
            self._tell(f"{self._party.name} takes part: {seat.purpose}")
            return seat, seat.begin()
        return seat, None


class Failure(DiscreetError):
    """An error that was not expected."""


def _failure(why: Exception) -> Failure:
    kind = type(why).__name__
    obstacle = f"it could not be read ({kind}, whose message may quote a row and is not shown)"
    return Failure("own records", obstacle, "Check the table.", "What was charged stays so; nothing was released.")
