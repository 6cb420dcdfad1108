"""A sum of which nobody sees the parts: vectors modulo 2**64, encrypted under a key that all parties hold together.

After Rastogi and Nath 2010 ("Differentially private aggregation of distributed time-series with transformation and
encryption"), with a threshold in the place of all users, who would all have to be there, and with proofs.

    step      a party says                                the relay answers, once it has heard enough
    joined    that it takes part on these terms           roll: who does
    sealed    its vector, encrypted, with a proof that    sums: what everybody has sealed
              it knows what is in it
    opened    its part of the decryption of the product   (nothing: the relay puts the sum together)
              of all that was sealed, with a proof

A party checks signatures and proofs of all that was sealed, adds it up itself, and decrypts nothing else, once in a
round. So what is opened is the sum of at least `threshold` vectors, each of which its sender knew: nobody else's vector
is in it twice, or taken off again. A party that gives a false part is found out by its proof and named.

What is protected (`paillier/threshold.md` has the arguments)
-----------------
*A relay that reads everything, with the help of any `terms.colluders` parties*, learns at most one sum in a round, over
at least `threshold` parties.

What is not: the sum itself (add noise before); who takes part; numbers that are false, or so large that a sum overflows
its slot, which ends the round or spoils the sum; that the round ends well. *The dealer* drew the key, and a copy of it
would open everything; `key.dealer` says who that was. All rests on a roster with the right keys, on SHA-256 as a random
oracle, and on the assumptions of `PublicKey`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.identity import Identity
from discreet.crypto.messages import framed
from discreet.crypto.paillier.encrypted_array import EncryptedArray
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.proven_array import ProvenArray
from discreet.crypto.paillier.threshold_key import KeyShare, ThresholdKey
from discreet.crypto.rounds.terms import Terms

PROTOCOL = b"discreet encrypted sum 1"
SAID, ANSWERED = ("joined", "sealed", "opened"), ("roll", "sums")
ROOM = 8192  # bytes of a message beside its ciphertexts


@dataclass(frozen=True)
class KeyHolder(Identity):
    """A party that was dealt a share of the key.

    Parameters
    ----------
    name, secret
        See `Identity`.
    share : KeyShare
        What it was dealt.
    """

    share: KeyShare | None = None

    @property
    def dealt(self) -> KeyShare:
        if self.share is None or self.share.name != self.name:
            raise ParameterError("key holder", f"{self.name!r} was dealt no share", "Give what the dealer sent.")
        return self.share


@dataclass(frozen=True)
class EncryptedTerms(Terms):
    """Who adds what under which key.

    Parameters
    ----------
    round, parties, threshold, size, server, about, protocol
        Public. See `Terms`.
    key : ThresholdKey
        Public. Of which every party holds a share, with the threshold of the terms.
    """

    protocol: bytes = PROTOCOL
    key: ThresholdKey | None = None

    @property
    def held(self) -> ThresholdKey:
        """The key, which must be that of these parties."""
        if self.key is None or set(self.key.holders) != set(self.parties) or self.key.threshold != self.threshold:
            obstacle = "the key was dealt to others, or with another threshold"
            raise ParameterError("terms", obstacle, "Deal one to these parties.")
        return self.key

    @cached_property
    def packing(self) -> Packing:
        """Integers of 64 bits, as many as there are parties."""
        return Packing(-(2**63), 2**63 - 1, headroom=len(self.parties))

    @property
    def ciphertexts(self) -> int:
        """How many each party sends."""
        return -(-self.size // self.packing.slots(self.held.public.key_bits))

    @property
    def digest(self) -> bytes:
        return sha256(framed(super().digest, self.held.digest)).digest()

    @property
    def most(self) -> int:
        return self.ciphertexts * self.held.public.size + ROOM

    @property
    def passed_on(self) -> int:
        return len(self.parties) * (self.most + 1024)

    def sender(self, name: str) -> bytes:
        """What a party's proof is bound to: these terms, and its name."""
        return framed(self.digest, name.encode())

    def sealed(self, name: str, body: bytes) -> EncryptedArray:
        """What a party has sealed, if it is a vector of these terms and the party has shown that it knows it."""
        sent = ProvenArray.from_bytes(body, self.held.public)
        array = sent.array
        told = (array.shape, array.packing, array.interval, array.exponent)
        if told != ((self.size,), self.packing, self.packing.interval, 0):
            raise Malformed(f"encrypted numbers of {name!r}", "they are no vector of this round", "", UNOPENED)
        sent.check(name, self.sender(name))
        return array
