"""Has the secret key and says yes or no: whoever asks sees no score, and the gallery's keeper nothing at all."""

from __future__ import annotations

from collections.abc import Callable

from discreet.core.errors import ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.errors import UNOPENED, Malformed, OutOfOrder
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.register import Register
from discreet.crypto.matching.sealed_query import QueryStamp
from discreet.crypto.matching.sealed_scores import SealedScores, check_threshold
from discreet.crypto.messages import Message, Signed
from discreet.trust.matching.match_account import MatchAccount, check_session
from discreet.trust.matching.match_members import (
    DECISION,
    DECISION_OF,
    NO,
    SCORES,
    YES,
    MatchAnswer,
    MatchMembers,
)


class MatchJudge(Held):
    """Opens the scores that a keeper signed for an asker, and tells the asker whether one reaches the threshold.

    Scores that cannot be, as of a query that is longer than a template, are "no", after the same work: the asker learns
    one bit, and it is counted.

    Parameters
    ----------
    identity : Identity
        Its own.
    key : MatchingKey
        The secret key of the gallery.
    keeper : PartyCertificate
        Public. Whose answers it opens.
    members : MatchMembers
        Public. Who may ask it.
    threshold : float
        Public. From which score on two templates match.
    account : MatchAccount
        Counts the decisions.
    register : Register, optional
        What was enrolled: answers about less are "no".
    tell : callable
        Given a line for its owner alone, where scores cannot be.
    """

    def __init__(
        self,
        identity: Identity,
        key: MatchingKey,
        keeper: PartyCertificate,
        members: MatchMembers,
        threshold: float,
        account: MatchAccount,
        register: Register | None = None,
        tell: Callable[[str], object] = lambda line: None,
    ) -> None:
        check_threshold(threshold)
        if members.server.public != identity.public or keeper.public == identity.public:
            raise ParameterError("judge", "it is not the judge of its members, or keeps the gallery", "Part the two.")
        if register is not None and register.key != key.keys.digest:
            raise ParameterError("judge", "the register is of another key", "Give that of the gallery.")
        self.identity, self.members = identity, members
        self._key, self._threshold, self._account = key, threshold, account
        self._keeper, self._roster = keeper.name, Roster({keeper.name: keeper.public})
        self._register, self._tell = register, tell

    @exclusive
    def answer(self, signed: Signed) -> Signed:
        """The decision about what a keeper answered."""
        message = signed.verified(self.members.roster)
        check_session(message.round)
        if message.kind != DECISION_OF:
            raise OutOfOrder(message.kind, "a judge does not answer this", "Send it the keeper's answer.", UNOPENED)
        inner = Signed.from_bytes(message.body, self._keeper).verified(self._roster)
        if (inner.kind, inner.round) != (SCORES, message.round):
            raise OutOfOrder(inner.kind, "it is of another session", "Send the answer to this one.", UNOPENED)
        answer = MatchAnswer.read(inner)
        if answer.asker != message.sender:
            raise OutOfOrder(inner.kind, "it was given to somebody else", "Ask yourself.", UNOPENED)
        stamp = QueryStamp(self._key.parameters, self._key.keys.digest, answer.query, owned=False)
        scores = SealedScores.from_bytes(answer.scores, stamp)
        self._account.count(message.sender, message.round)
        body = YES if self._is_match(scores, answer) else NO
        return Message(message.round, self.identity.name, DECISION, body).signed(self.identity)

    def _is_match(self, scores: SealedScores, answer: MatchAnswer) -> bool:
        try:
            found = scores.opened(self._key)
            if answer.template is None and self._register is not None:
                self._register.check_whole(scores)
        except Malformed as why:
            self._tell(f"{answer.asker}: {why}")
            return False
        if answer.template is None:
            return found.is_match(self._threshold)
        slot = self._slot(answer)
        return slot is not None and slot < len(found) and slot in found.found(self._threshold)

    def _slot(self, answer: MatchAnswer) -> int | None:
        """Where the one template is that was asked for: by the register, if there is one."""
        if self._register is None or answer.template is None:
            return answer.slot
        return None if answer.template >= len(self._register.names) else self._register.seat(answer.template)[1]
