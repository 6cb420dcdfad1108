"""Questions and answers over TLS: whoever is called answers one signed message with another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from discreet.core.errors import DiscreetError, NotPermitted
from discreet.crypto.errors import UNOPENED, Malformed, ProtocolError, RoundReused
from discreet.crypto.identity import Identity
from discreet.crypto.messages import Message, Signed, framed, split, text
from discreet.trust.matching.match_members import REFUSED, MatchMembers
from discreet.trust.network.link import Link, called
from discreet.trust.network.listener import listening
from discreet.trust.party import LONGEST_REFUSAL

LONGEST_QUESTION, LONGEST_ANSWER = 1 << 18, 1 << 28  # bytes of a frame: the latter of 14 million templates
PATIENCE = 600.0  # seconds for an answer
HUNG_UP = "it hung up"  # as whoever was answered does
FAILED = "it could not answer; its owner knows why"
REFUSALS = {kind.__name__: kind for kind in (NotPermitted, Malformed, RoundReused)}
Answer = Callable[[Signed], Signed]
Tell = Callable[[str], object]


class MatchService:
    """Answers the members' messages at an address, until it is cancelled.

    Parameters
    ----------
    identity : Identity
        Who is called.
    members : MatchMembers
        Public. Who may call.
    answer : callable
        From a signed message to another: that of a keeper or of a judge.
    tell : callable
        Given a line for the owner.
    longest : int
        Public. The bytes of the longest question.
    """

    def __init__(
        self,
        identity: Identity,
        members: MatchMembers,
        answer: Answer,
        tell: Tell,
        longest: int = LONGEST_QUESTION,
    ) -> None:
        self._identity, self._members, self._answer = identity, members, answer
        self._tell, self._longest = tell, longest

    async def listen(self, address: str) -> None:
        """Take calls."""
        listener = await listening(address, self._identity, self._members, self._met)
        self._tell(f"{self._identity.name} listens at {listener.address}")
        try:
            await asyncio.Event().wait()
        finally:
            await listener.close()

    async def _met(self, link: Link) -> None:
        """Answer all that is said on this line, until it breaks."""
        try:
            while True:
                data = await link.receive(self._longest)
                await link.send((await asyncio.to_thread(self._answered, data, link.name)).to_bytes())
        except ConnectionError as why:
            if HUNG_UP not in str(why):
                self._tell(str(why))
        finally:
            link.cut()

    def _answered(self, data: bytes, sender: str) -> Signed:
        """The answer, or a refusal that tells no more than the words of an error."""
        signed, round = Signed.from_bytes(data, sender), REFUSED
        try:
            round = signed.verified(self._members.roster).round
            found = self._answer(signed)
            self._tell(f"{sender}: answered")
            return found
        except DiscreetError as why:
            kind, words = type(why).__name__, str(why)
            self._tell(f"{sender}: {words}")
        except Exception as why:  # a mistake of ours, whose message may quote what nobody should read
            kind, words = "", FAILED
            self._tell(f"{sender}: {type(why).__name__}")
        body = framed(kind.encode(), words.encode()[:LONGEST_REFUSAL])
        return Message(round, self._identity.name, REFUSED, body).signed(self._identity)


async def answered(address: str, identity: Identity, members: MatchMembers, asked: Signed) -> Signed:
    """What the member who listens there answers; its refusal is raised."""
    link = await called(address, identity, members)
    try:
        async with asyncio.timeout(PATIENCE):
            await link.send(asked.to_bytes())
            data = await link.receive(LONGEST_ANSWER)
    except TimeoutError as why:
        raise ConnectionError(f"{link.name} did not answer within {PATIENCE:g} s") from why
    finally:
        await link.down()
    found = Signed.from_bytes(data, members.server.name)
    if found.verified(members.roster).kind == REFUSED:
        kind, words = split(found.message.body, 2)
        raise _refusal(members.server.name, text(kind), words.decode(errors="replace"))
    return found


def _refusal(giver: str, kind: str, words: str) -> DiscreetError:
    """What a refusal says, as an error of its kind."""
    return REFUSALS.get(kind, ProtocolError)(f"{giver} refuses", words.rstrip("."), "", UNOPENED)
