"""Encrypted numbers with a proof that whoever sends them knows them: nobody can send what others have encrypted.

Without it, a sender could multiply the ciphertexts of others into its own, so that a sum that is opened shows one of
them alone. `threshold.md` has the attack and the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.crypto.errors import UNOPENED, Malformed, WrongShares
from discreet.crypto.messages import framed, split
from discreet.crypto.paillier.big_integers import Big, big, gmp, uniform_below
from discreet.crypto.paillier.encrypted_array import EncryptedArray, packed_columns
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.public_key import MOST, PROOF, PublicKey, read, written
from discreet.noise.system_bits import system_bits

PROTOCOL = b"discreet paillier plaintext proof 1"
CHALLENGE = 128  # bits
MASK = PROOF - 8  # bits by which a mask is longer than an exponent
SEED = 32  # bytes


@dataclass(frozen=True)
class ProvenArray:
    """An encrypted array, and a proof of knowledge of its plaintexts, bound to who sends it and to what.

    Parameters
    ----------
    array : EncryptedArray
        Public.
    seed : bytes
        Public. A digest of all ciphertexts and of the first message, from which challenges follow.
    plain, exponent : int
        Public. The answers: masked sums of plaintexts and of exponents.
    """

    array: EncryptedArray
    seed: bytes = field(repr=False)
    plain: Big = field(repr=False)
    exponent: Big = field(repr=False)

    @classmethod
    def made(
        cls, values: ArrayLike, packing: Packing, key: PublicKey, about: bytes, bits: Bits | None = None
    ) -> ProvenArray:
        """These numbers, encrypted by whoever sends them; `about` says who and to what."""
        source, steps = bits or system_bits(), np.atleast_1d(packing.steps(values))
        plain = packed_columns(steps, packing, packing.slots(key.key_bits))
        exponents = [source.integer(key.exponent_bits) for _ in plain]
        zeros = key.table.powers(exponents)
        sealed = [key.holds(one) * zero % key.square for one, zero in zip(plain, zeros, strict=True)]
        array = EncryptedArray(key, packing, steps.shape, packing.interval, packing.exponent, tuple(sealed))
        mask, turn = uniform_below(key.modulus, source), big(source.integer(key.exponent_bits + MASK))
        seed = _seed(array, about, key.holds(mask) * key.table.power(turn) % key.square)
        weights = challenges(seed, len(plain))
        shown = (mask + sum(weight * one for weight, one in zip(weights, plain, strict=True))) % key.modulus
        return cls(array, seed, shown, turn + sum(w * one for w, one in zip(weights, exponents, strict=True)))

    def check(self, sender: str, about: bytes) -> None:
        """Refuse an array whose sender has not shown that it knows what is in it."""
        key = self.array.key
        whole = 0 <= self.plain < key.modulus and 0 <= self.exponent < 1 << (key.exponent_bits + PROOF)
        if not whole or not self._holds(about):
            obstacle = "its proof fails: whoever made it did not know what is in it, or sent it elsewhere"
            raise WrongShares(f"encrypted numbers of {sender!r}", obstacle, "Go on without it.", UNOPENED, name=sender)

    def _holds(self, about: bytes) -> bool:
        key = self.array.key
        first = key.holds(self.plain) * key.table.power(self.exponent) % key.square
        below = big(1)
        for one, weight in zip(self.array.ciphertexts, challenges(self.seed, len(self.array.ciphertexts)), strict=True):
            below = below * gmp().powmod(one, weight, key.square) % key.square
        return _seed(self.array, about, first * gmp().invert(below, key.square) % key.square) == self.seed

    def to_bytes(self) -> bytes:
        """The form in which it travels."""
        return framed(self.array.to_bytes(), self.seed, written(self.plain), written(self.exponent))

    @classmethod
    def from_bytes(cls, data: bytes, key: PublicKey) -> ProvenArray:
        """What was sent, under this key; its proof is checked by `check`."""
        array, seed, plain, exponent = split(data, 4)
        if len(seed) != SEED:
            raise Malformed("proof", "it has another length", "Ask for it again.", UNOPENED)
        return cls(EncryptedArray.from_bytes(array, key), seed, read(plain, MOST // 8), read(exponent, MOST // 4))


def challenges(seed: bytes, count: int) -> Sequence[Big]:
    """One number of 128 bits for each ciphertext."""
    digests = (sha256(seed + place.to_bytes(8, "big")).digest() for place in range(count))
    return [big(int.from_bytes(one[: CHALLENGE // 8], "big")) for one in digests]


def _seed(array: EncryptedArray, about: bytes, first: Big) -> bytes:
    return sha256(framed(PROTOCOL, array.key.digest, about, array.to_bytes(), written(first))).digest()
