"""One question about a gallery, from whoever asks: what is sent, and what is read of the answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.errors import UNOPENED, Malformed, OutOfOrder
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.matching.evaluation_keys import EvaluationKeys
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.crypto.matching.sealed_scores import SealedScores
from discreet.crypto.messages import Message, Signed, framed
from discreet.noise.system_bits import system_bits
from discreet.trust.matching.match_account import SESSION
from discreet.trust.matching.match_members import (
    BLOCK,
    BLOCK_OF,
    DECISION,
    DECISION_OF,
    NO,
    SCORES,
    SCORES_OF,
    YES,
    MatchAnswer,
    number_bytes,
)


def new_session() -> str:
    """A name that no session had."""
    return f"{system_bits().integer(4 * SESSION):0{SESSION}x}"


@dataclass(frozen=True)
class MatchQuestion:
    """A query in a session of its own.

    Parameters
    ----------
    identity : Identity
        Who asks.
    keeper : PartyCertificate
        Public. Who keeps the gallery.
    query : SealedQuery
        What is asked.
    template : int, optional
        Public. The one template that is asked for; all where not given.
    session : str
        Public.
    """

    identity: Identity
    keeper: PartyCertificate
    query: SealedQuery
    template: int | None = None
    session: str = field(default_factory=new_session)

    @classmethod
    def by_owner(
        cls,
        vector: ArrayLike,
        identity: Identity,
        keeper: PartyCertificate,
        key: MatchingKey,
        template: int | None = None,
    ) -> MatchQuestion:
        """Of whoever has the key, and reads the scores."""
        return cls(identity, keeper, SealedQuery.by_owner(vector, key), template)

    @classmethod
    def by_anybody(
        cls,
        vector: ArrayLike,
        identity: Identity,
        keeper: PartyCertificate,
        keys: EvaluationKeys,
        template: int | None = None,
    ) -> MatchQuestion:
        """Of somebody who will be told yes or no."""
        return cls(identity, keeper, SealedQuery.by_anybody(vector, keys), template)

    @property
    def asked(self) -> Signed:
        """For the keeper."""
        return self._said(SCORES_OF, framed(self.query.to_bytes(), number_bytes(self.template)))

    def scores(self, answered: Signed) -> SealedScores:
        """What the keeper answered, if it is to this question."""
        answer = MatchAnswer.read(self._heard(answered, SCORES, self.keeper))
        if (answer.asker, answer.template) != (self.identity.name, self.template):
            raise OutOfOrder(SCORES, "it is to another question", "Ask again.", UNOPENED)
        return SealedScores.from_bytes(answer.scores, self.query.stamp)

    def slot(self, answered: Signed) -> int | None:
        """Where the keeper says that the one template is among the scores."""
        return MatchAnswer.read(self._heard(answered, SCORES, self.keeper)).slot

    def to_judge(self, answered: Signed) -> Signed:
        """For the judge: the keeper's answer as it is."""
        return self._said(DECISION_OF, answered.to_bytes())

    def decision(self, answered: Signed, judge: PartyCertificate) -> bool:
        """What the judge said."""
        body = self._heard(answered, DECISION, judge).body
        if body not in (YES, NO):
            raise Malformed(DECISION, "it is neither yes nor no", "Ask again.", UNOPENED)
        return body == YES

    def _heard(self, answered: Signed, kind: str, giver: PartyCertificate) -> Message:
        message = answered.verified(Roster({giver.name: giver.public}))
        if (message.kind, message.round) != (kind, self.session):
            raise OutOfOrder(message.kind, "it is of another session or step", "Ask again.", UNOPENED)
        return message

    def _said(self, kind: str, body: bytes) -> Signed:
        return Message(self.session, self.identity.name, kind, body).signed(self.identity)


@dataclass(frozen=True)
class BlockQuestion:
    """Asks a keeper for the ciphertexts of a template's block, to see that they are those that were enrolled."""

    identity: Identity
    keeper: PartyCertificate
    template: int
    session: str = field(default_factory=new_session)

    @property
    def asked(self) -> Signed:
        """For the keeper."""
        body = number_bytes(self.template)
        return Message(self.session, self.identity.name, BLOCK_OF, body).signed(self.identity)

    def block(self, answered: Signed) -> bytes:
        """What it sent; `Register.confirmed` says whether it is right."""
        message = answered.verified(Roster({self.keeper.name: self.keeper.public}))
        if (message.kind, message.round) != (BLOCK, self.session):
            raise OutOfOrder(message.kind, "it is of another session or step", "Ask again.", UNOPENED)
        return message.body
