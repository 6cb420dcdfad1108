"""One party of an encrypted sum (`encrypted_sum.py` states the protocol)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.encrypted_sum.encrypted_sum import ANSWERED, EncryptedTerms, KeyHolder
from discreet.crypto.errors import UNOPENED, Disagreement, OutOfOrder, UnknownParty
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, ReplayGuard, Signed, unlabelled, unlisted
from discreet.crypto.paillier.decryptor import Decryptor
from discreet.crypto.paillier.encrypted_array import EncryptedArray
from discreet.crypto.paillier.proven_array import ProvenArray
from discreet.crypto.rounds.agreement import check_roster
from discreet.crypto.rounds.speaker import Vector
from discreet.crypto.rounds.terms import UsedRounds
from discreet.noise.system_bits import system_bits


class SealingParty(Held):
    """One party. It begins, and each message of the relay lets it take one step.

    Parameters
    ----------
    identity : KeyHolder
        Who it is, with its share of the key.
    terms : EncryptedTerms
        Public. What all agreed on.
    roster : Roster
        Public. The keys of all parties and of the relay.
    rounds : UsedRounds
        The rounds that this party has taken part in.
    bits : Bits, optional
        Where its randomness comes from.
    """

    def __init__(
        self, identity: Identity, terms: EncryptedTerms, roster: Roster, rounds: UsedRounds, bits: Bits | None = None
    ) -> None:
        terms.index(identity.name)
        check_roster(identity, terms, roster)
        if not isinstance(identity, KeyHolder) or identity.dealt.key.digest != terms.held.digest:
            obstacle = f"{identity.name!r} has no share of this key"
            raise ParameterError("encrypted sum", obstacle, "Give what the dealer sent.")
        rounds.claim(terms.round)
        self.name, self.terms = identity.name, terms
        self._identity, self._roster, self._bits = identity, roster, bits or system_bits()
        self._decryptor = Decryptor(identity.dealt, UsedRounds(), self._bits)
        self._seen = ReplayGuard(terms.round, *ANSWERED)
        self._sealed = b""

    @property
    def most(self) -> int:
        """The longest message of the relay in this round, in bytes."""
        return self.terms.passed_on

    @exclusive
    def begin(self) -> Signed:
        """Say that it takes part on these terms."""
        return self._signed("joined", self.terms.digest)

    @exclusive
    def answer(self, heard: Signed, vector: Callable[[], Vector]) -> Signed:
        """The step that a message of the relay asks for."""
        if heard.sender != self.terms.server:
            raise UnknownParty(f"round {self.terms.round!r}", f"{heard.sender!r} is not the relay", "", UNOPENED)
        message = heard.verified(self._roster)
        if message.kind not in ANSWERED:
            raise OutOfOrder(f"{message.kind!r}", "there is no such step", "", UNOPENED)
        with self._seen.admitting(message):
            return self._seal(message.body, vector) if message.kind == "roll" else self._open(message.body)

    def _seal(self, body: bytes, vector: Callable[[], Vector]) -> Signed:
        """Encrypt the own vector, once enough have joined."""
        joined = unlisted(body)
        self.terms.check_enough("joined", len(set(joined) & set(self.terms.parties)))
        if self.name not in joined:
            raise Disagreement("roll", f"{self.name!r} is missing", "", UNOPENED)
        own = np.asarray(vector()).view(np.int64)
        sent = self._proven(own)
        self._sealed = self._signed("sealed", sent.to_bytes()).to_bytes()
        return Signed.from_bytes(self._sealed, self.name)

    def _proven(self, own: np.ndarray) -> ProvenArray:
        about = self.terms.sender(self.name)
        return ProvenArray.made(own, self.terms.packing, self.terms.held.public, about, self._bits)

    def _open(self, body: bytes) -> Signed:
        """Add up what all have sealed, each once, and give the own part of its decryption."""
        sealed = unlabelled(body)
        self.terms.check_enough("sealed", len(sealed))
        if sealed.get(self.name) != self._sealed or not self._sealed:
            raise Disagreement("sums", f"what {self.name!r} has sealed is missing or not its own", "", UNOPENED)
        total = EncryptedArray.total(self._checked(name, sealed[name]) for name in sorted(sealed))
        given = self._decryptor.partial(self.terms.round, total)
        return self._signed("opened", given.to_bytes(self.terms.held))

    def _checked(self, name: str, data: bytes) -> EncryptedArray:
        self.terms.index(name)
        message = Signed.from_bytes(data, name).verified(self._roster)
        if (message.round, message.kind) != (self.terms.round, "sealed"):
            raise OutOfOrder(f"{message.kind!r} of {name!r}", "it belongs elsewhere", "", UNOPENED)
        return self.terms.sealed(name, message.body)

    def _signed(self, kind: str, body: bytes) -> Signed:
        return Message(self.terms.round, self.name, kind, body).signed(self._identity)
