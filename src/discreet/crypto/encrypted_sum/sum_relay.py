"""The one who carries messages of an encrypted sum, and puts the total together (`encrypted_sum.py`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.core.held import exclusive
from discreet.crypto.encrypted_sum.encrypted_sum import SAID, EncryptedTerms
from discreet.crypto.errors import UNOPENED, Disagreement, WrongShares
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, Signed, labelled, listed
from discreet.crypto.paillier.decryptor import PartialDecryption, check_partial, combined
from discreet.crypto.paillier.encrypted_array import EncryptedArray
from discreet.crypto.rounds.agreement import ordered
from discreet.crypto.rounds.round_relay import RoundRelay
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import UsedRounds


class SumRelay(RoundRelay[EncryptedTerms]):
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
        super().__init__(identity, terms, roster, rounds, SAID)
        self._sealed: dict[str, EncryptedArray] = {}
        self._given: dict[str, PartialDecryption] = {}
        self._liars: set[str] = set()
        self._total: EncryptedArray | None = None

    def _take(self, message: Message) -> None:
        try:
            self._keep(message)
        except WrongShares:
            self._liars.add(message.sender)
            raise

    def _keep(self, message: Message) -> None:
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
        said = self._ended()
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
        self._check_step("opened", "total")
        assert self._total is not None
        self.terms.check_enough("opened", len(self._given))
        numbers = combined(self.terms.held, self._total, list(self._given.values())).astype(object)
        self.step = "nothing"
        vector = np.array([int(number) % 2**64 for number in numbers], np.uint64)
        return Total(vector, tuple(ordered(self.terms, self._sealed)), tuple(ordered(self.terms, self._liars)))
