"""Keeps an encrypted gallery and answers queries about it; it learns neither templates nor queries nor scores."""

from __future__ import annotations

from discreet.core.errors import ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, OutOfOrder
from discreet.crypto.identity import Identity
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.crypto.messages import Message, Signed, framed, split
from discreet.trust.matching.match_account import MatchAccount, check_session
from discreet.trust.matching.match_members import (
    BLOCK,
    BLOCK_OF,
    SCORES,
    SCORES_OF,
    MatchMembers,
    number_bytes,
    number_in,
)


class GalleryKeeper(Held):
    """Answers signed queries of its members, each session once, as often as the account allows.

    Parameters
    ----------
    identity : Identity
        Its own.
    matcher : Matcher
        The gallery.
    members : MatchMembers
        Public. Who may ask.
    account : MatchAccount
        Counts what was answered.
    """

    def __init__(self, identity: Identity, matcher: Matcher, members: MatchMembers, account: MatchAccount) -> None:
        if members.server.public != identity.public:
            raise ParameterError("gallery", "its members name another keeper", "Give its own identity.")
        self.identity, self.members = identity, members
        self._matcher, self._account = matcher, account

    @exclusive
    def answer(self, signed: Signed) -> Signed:
        """What it says to a query. One that is malformed is refused before it is counted."""
        message = signed.verified(self.members.roster)
        check_session(message.round)
        if message.kind == SCORES_OF:
            return self._scores(message)
        if message.kind == BLOCK_OF:
            return self._block(message)
        raise OutOfOrder(message.kind, "a keeper does not answer this", "Ask for scores.", UNOPENED)

    def _scores(self, message: Message) -> Signed:
        body, asked = split(message.body, 2)
        query, template = SealedQuery.from_bytes(body, self._matcher.keys), number_in(asked)
        slot = None if template is None else self._matcher.gallery.place(template)[1]
        self._account.count(message.sender, message.round)
        scores = self._matcher.answer(query, template).to_bytes()
        fields = (message.sender.encode(), query.stamp.digest, asked, number_bytes(slot), scores)
        return self._said(message, SCORES, framed(*fields))

    def _block(self, message: Message) -> Signed:
        """The ciphertexts of one block, for the key's owner to see that they are those that were enrolled."""
        template = number_in(message.body)
        place, _ = self._matcher.gallery.place(-1 if template is None else template)
        self._account.count(message.sender, message.round)
        return self._said(message, BLOCK, b"".join(self._matcher.gallery.block(place)))

    def _said(self, to: Message, kind: str, body: bytes) -> Signed:
        return Message(to.round, self.identity.name, kind, body).signed(self.identity)
