"""A server of encrypted networks on its line: answers what clients say, until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from discreet.core.errors import DiscreetError, EngineFailure
from discreet.crypto.errors import UNOPENED
from discreet.crypto.gelu_net.gelu_message import HELLO
from discreet.crypto.gelu_net.gelu_server import GeluServer
from discreet.crypto.messages import Signed
from discreet.trust.gelu_net.gelu_members import GeluMembers
from discreet.trust.network.link import Link
from discreet.trust.network.listener import listening

Tell = Callable[[str], None]


class GeluService:
    """Listens for clients, each on a line of mutual TLS.

    Parameters
    ----------
    server : GeluServer
        Who answers.
    members : GeluMembers
        Public. Who may call.
    tell : callable
        Given a line of text for the owner whenever something happens.
    """

    def __init__(self, server: GeluServer, members: GeluMembers, tell: Tell) -> None:
        self._server, self._members, self._tell = server, members, tell

    async def listen(self, address: str) -> None:
        """Wait for calls, until cancelled."""
        listener = await listening(address, self._server.identity, self._members, self._answering)
        self._tell(f"{self._server.identity.name} listens at {listener.address}")
        try:
            await asyncio.Event().wait()
        finally:
            await listener.close()

    async def _answering(self, link: Link) -> None:
        """Answer all that a client says, until the line breaks or something is refused."""
        self._tell(f"{link.name} is connected")
        try:
            while True:
                data = await link.receive(self._server.most_bytes)
                answer, fine = await asyncio.to_thread(self._answered, Signed.from_bytes(data, link.name))
                await link.send(answer.to_bytes())
                if not fine:
                    await link.down()
                    return
        except ConnectionError as why:
            self._tell(f"{link.name}: {why}")
        finally:
            link.cut()
            await asyncio.to_thread(self._server.end, link.name)

    def _answered(self, signed: Signed) -> tuple[Signed, bool]:
        """The answer, or a refusal, and whether the line goes on."""
        try:
            return self._server.answer(signed), True
        except DiscreetError as why:
            refusal = why
        except Exception as why:
            kind = type(why).__name__
            refusal = EngineFailure("encrypted network", f"the server failed ({kind})", "Ask its owner.", UNOPENED)
        self._tell(f"{signed.sender} is refused: {refusal}")
        return self._server.refusal(HELLO, refusal), False
