"""A client's line to the server of an encrypted network, for code that is not asynchronous."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.held import Held, exclusive
from discreet.crypto.gelu_net.gelu_message import HELLO, REFUSAL, GeluBody
from discreet.crypto.identity import Identity
from discreet.crypto.messages import Signed
from discreet.display.plain import plain
from discreet.trust.gelu_net.gelu_members import GeluMembers
from discreet.trust.network.background import Background
from discreet.trust.network.link import Link, called
from discreet.trust.round import Refused

MOST = 1 << 30  # bytes of an answer


class GeluLine(Held):
    """Passes what a client says to the server, and gives its answer. Use it in a `with` block.

    Parameters
    ----------
    address : str
        Where the server listens.
    identity : Identity
        Who calls.
    members : GeluMembers
        Public. The server, and the client.
    """

    def __init__(self, address: str, identity: Identity, members: GeluMembers) -> None:
        self._members, self._background = members, Background()
        try:
            self._link: Link = self._background.run(lambda: called(address, identity, members))
            if self._link.name != members.server.name:
                raise ConnectionError(f"{self._link.name} is at the other end, who is not the server")
        except BaseException:
            self._background.close(_nothing)
            raise

    @exclusive
    def __call__(self, said: Signed) -> Signed:
        """The server's answer.

        Raises
        ------
        NotPermitted
            It may answer, and does not.
        Refused
            It refuses for another reason.
        """
        heard = self._background.run(lambda: self._exchanged(said))
        message = heard.verified(self._members.roster)
        if (message.round, message.kind) == (HELLO, REFUSAL):
            facts = GeluBody.from_bytes(message.body, words=str, refused=str).facts
            raise _refusal(facts["refused"], plain(facts["words"]).rstrip("."))
        return heard

    async def _exchanged(self, said: Signed) -> Signed:
        await self._link.send(said.to_bytes())
        return Signed.from_bytes(await self._link.receive(MOST), self._members.server.name)

    @exclusive
    def close(self) -> None:
        """Hang up."""
        self._background.close(self._link.down)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _refusal(kind: str, words: str) -> DiscreetError:
    asked, obstacle = "encrypted network", f"the server refuses ({words})"
    if kind == NotPermitted.__name__:
        return NotPermitted(asked, obstacle, "Ask whoever runs it.")
    return Refused(asked, obstacle, "Open another session.", "")


async def _nothing() -> None:
    """There is no line to hang up."""
