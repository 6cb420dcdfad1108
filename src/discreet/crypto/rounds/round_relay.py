"""What the relays of verified and of encrypted sums have in common: one step after another, each party once in each."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Disagreement, OutOfOrder
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, ReplayGuard, Signed
from discreet.crypto.rounds.agreement import check_roster
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import Terms, UsedRounds

Agreed = TypeVar("Agreed", bound=Terms)


class RoundRelay(Held, Generic[Agreed]):
    """Hears the parties step by step; a message that is refused leaves it as it was.

    Parameters
    ----------
    identity : Identity
        Who it is: the server of the terms.
    terms : Terms
        Public. What all agreed on.
    roster : Roster
        Public. The keys of all parties and of the relay.
    rounds : UsedRounds
        The rounds that it has run.
    steps : sequence of str
        Public. What a party says, in order.
    """

    def __init__(
        self, identity: Identity, terms: Agreed, roster: Roster, rounds: UsedRounds, steps: Sequence[str]
    ) -> None:
        if identity.name != terms.server:
            raise Disagreement("relay", f"{identity.name!r} is not the server of these terms", "", UNOPENED)
        check_roster(identity, terms, roster)
        rounds.claim(terms.round)
        self.terms, self.step = terms, steps[0]
        self._identity, self._roster, self._seen = identity, roster, ReplayGuard(terms.round, *steps)
        self._heard: dict[str, Signed] = {}

    @property
    def most(self) -> int:
        """The longest message of a party in this round, in bytes."""
        return self.terms.most

    @exclusive
    def receive(self, signed: Signed) -> None:
        """Hear one party, or refuse what it says."""
        self.terms.index(signed.sender)
        message = signed.verified(self._roster)
        with self._seen.admitting(message):
            self._check_step(message.kind, f"step of {message.kind}")
            self._take(message)
            self._heard[message.sender] = signed

    @abc.abstractmethod
    def passed_on(self) -> Mapping[str, Signed]:
        """End a step: what each party is told; nothing after the last."""

    @abc.abstractmethod
    def total(self) -> Total:
        """The sum, and who lied."""

    @abc.abstractmethod
    def _take(self, message: Message) -> None:
        """Check what one party says, whose turn it is."""

    def _check_step(self, step: str, asked: str) -> None:
        if step != self.step:
            raise OutOfOrder(asked, f"the relay is at the step of {self.step}", "", UNOPENED, due=self.step)

    def _ended(self) -> dict[str, Signed]:
        """What enough parties have said at this step, which is over."""
        self.terms.check_enough(self.step, len(self._heard))
        said, self._heard = self._heard, {}
        return said

    def _signed(self, kind: str, body: bytes) -> Signed:
        return Message(self.terms.round, self.terms.server, kind, body).signed(self._identity)
