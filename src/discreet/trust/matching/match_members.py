"""Who may call whom, and the questions and answers that travel between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from discreet.core.errors import ParameterError
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.identity import Roster
from discreet.crypto.messages import Message, split, text

SCORES_OF, BLOCK_OF, DECISION_OF = "match query", "match block query", "match scores to judge"
SCORES, BLOCK, DECISION, REFUSED = "match scores", "match block", "match decision", "match refusal"
YES, NO = b"yes", b"no"


@dataclass(frozen=True)
class MatchMembers:
    """A service and its callers.

    Parameters
    ----------
    server : PartyCertificate
        Public. Who is called: the keeper of a gallery, or the judge.
    parties : tuple of PartyCertificate
        Public. Who may call.
    """

    server: PartyCertificate
    parties: tuple[PartyCertificate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parties", tuple(self.parties))
        names = [self.server.name, *(card.name for card in self.parties)]
        if not self.parties or len(set(names)) < len(names) or len(set(self.roster.keys.values())) < len(names):
            obstacle = "two of them have one name or one key, or nobody may call"
            raise ParameterError("members", obstacle, "Let each draw an identity of its own.")

    @cached_property
    def roster(self) -> Roster:
        """Everybody's key."""
        return Roster({card.name: card.public for card in (self.server, *self.parties)})


@dataclass(frozen=True)
class MatchAnswer:
    """What a keeper says of a query: whose it was, which template was asked for, and where that is in its block.

    Parameters
    ----------
    asker : str
        Public. Who asked.
    query : bytes
        Public. The digest of the query.
    template, slot : int, optional
        Public. The template, where one alone was asked for, and its place among the scores.
    scores : bytes
        The encrypted scores.
    """

    asker: str
    query: bytes
    template: int | None
    slot: int | None
    scores: bytes

    @classmethod
    def read(cls, message: Message) -> MatchAnswer:
        """The answer in the body of a message."""
        asker, query, template, slot, scores = split(message.body, 5)
        return cls(text(asker), query, number_in(template), number_in(slot), scores)


def number_bytes(number: int | None) -> bytes:
    """A number, or nothing."""
    return b"" if number is None else str(number).encode()


def number_in(data: bytes) -> int | None:
    """The number in these bytes, or none.

    Examples
    --------
    >>> number_in(b"12"), number_in(b"")
    (12, None)
    """
    if not data:
        return None
    if len(data) > 12 or not data.isdigit():
        raise Malformed("message", "a number in it is none", "Ask again.", UNOPENED)
    return int(data)
