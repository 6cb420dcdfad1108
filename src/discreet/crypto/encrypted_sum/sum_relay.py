"""The one who carries messages of an encrypted sum, and puts the total together (`encrypted_sum.py`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.core.held import Held, exclusive
from discreet.crypto.encrypted_sum.encrypted_sum import SAID, EncryptedTerms
from discreet.crypto.errors import UNOPENED, Disagreement, OutOfOrder, WrongShares
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, ReplayGuard, Signed, labelled, listed
from discreet.crypto.paillier.decryptor import PartialDecryption, check_partial, combined
from discreet.crypto.paillier.encrypted_array import EncryptedArray
from discreet.crypto.rounds.agreement import check_roster, ordered
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import UsedRounds


class SumRelay(Held):
    """Hears the parties step by step. Whoever gives a false proof is refused by name, and the round goes on without it.

    Parameters
    ----------
    identity : Identity
        Who it is: the server of the terms.
    terms : EncryptedTerms
        Public. What all agreed on.
    roster : Roster
        Public. The keys of all parties and of the relay.
    rounds : UsedRounds
        The rounds that it has run.
    """

    def __init__(self, identity: Identity, terms: EncryptedTerms, roster: Roster, rounds: UsedRounds) -> None:
        if identity.name != terms.server:
            raise Disagreement("relay", f"{identity.name!r} is not the server of these terms", "", UNOPENED)
        check_roster(identity, terms, roster)
        rounds.claim(terms.round)
        self.terms, self.step = terms, SAID[0]
        self._identity, self._roster = identity, roster
        self._seen = ReplayGuard(terms.round, *SAID)
        self._heard: dict[str, Signed] = {}
        self._sealed: dict[str, EncryptedArray] = {}
        self._given: dict[str, PartialDecryption] = {}
        self._liars: set[str] = set()
        self._total: EncryptedArray | None = None

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
            if message.kind != self.step:
                raise OutOfOrder(f"step of {message.kind}", f"the relay is at the step of {self.step}", "", UNOPENED)
            try:
                self._take(message)
            except WrongShares:
                self._liars.add(message.sender)
                raise
            self._heard[message.sender] = signed

    def _take(self, message: Message) -> None:
        """Check what one party says, and keep it."""
        if message.kind == "joined" and message.body != self.terms.digest:
            raise Disagreement(f"{message.sender!r}", "it joins on other terms", "Let all have the same.", UNOPENED)
        if message.kind == "sealed":
            self._sealed[message.sender] = self.terms.sealed(message.sender, message.body)
        if message.kind == "opened":
            given = PartialDecryption.from_bytes(message.body, self.terms.held)
            if given.giver != message.sender:
                obstacle = f"it is said to be of {given.giver[:20]!r}"
                asked = f"partial decryption of {message.sender!r}"
                raise WrongShares(asked, obstacle, "", UNOPENED, name=message.sender)
            assert self._total is not None
            check_partial(self.terms.held, self.terms.round, self._total, given)
            self._given[message.sender] = given

    @exclusive
    def passed_on(self) -> Mapping[str, Signed]:
        """End a step: who has joined, then what all have sealed."""
        if self.step == "opened":
            return {}
        self.terms.check_enough(self.step, len(self._heard))
        said, self._heard = self._heard, {}
        names = ordered(self.terms, said)
        if self.step == "joined":
            self.step, answer = "sealed", self._signed("roll", listed(names))
        else:
            self._total = EncryptedArray.total(self._sealed[name] for name in sorted(said))
            body = labelled({name: said[name].to_bytes() for name in names})
            self.step, answer = "opened", self._signed("sums", body)
        return dict.fromkeys(names, answer)

    @exclusive
    def total(self) -> Total:
        """The sum over all that were sealed, modulo 2**64, and who gave false proofs."""
        if self.step != "opened" or self._total is None:
            raise OutOfOrder("total", f"the relay is at the step of {self.step}", "", UNOPENED)
        self.terms.check_enough("opened", len(self._given))
        numbers = combined(self.terms.held, self._total, list(self._given.values())).astype(object)
        self.step = "nothing"
        vector = np.array([int(number) % 2**64 for number in numbers], np.uint64)
        return Total(vector, tuple(ordered(self.terms, self._sealed)), tuple(ordered(self.terms, self._liars)))

    def _signed(self, kind: str, body: bytes) -> Signed:
        return Message(self.terms.round, self.terms.server, kind, body).signed(self._identity)
