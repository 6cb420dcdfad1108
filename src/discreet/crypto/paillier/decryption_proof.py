"""A proof that ciphertexts were raised to the very share that a holder was dealt; one for any number of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from discreet.core.bits import Bits
from discreet.crypto.messages import framed
from discreet.crypto.paillier.big_integers import Big, big, gmp
from discreet.crypto.paillier.public_key import written
from discreet.crypto.paillier.threshold_key import CHALLENGE, KeyShare, ThresholdKey

PROTOCOL = b"discreet paillier decryption proof 1"


@dataclass(frozen=True)
class DecryptionProof:
    """Chaum and Pedersen 1992 in the squares modulo n**2, made non-interactive by SHA-256 (Shoup 2000, section 5).

    Shows that the logarithm of part**2 to base c**4 and that of the holder's public number to the base of the key are
    equal, for all ciphertexts c at once: they are raised to random powers and multiplied first (`threshold.md`).

    Parameters
    ----------
    challenge, answer : int
        Public.
    """

    challenge: Big = field(repr=False)
    answer: Big = field(repr=False)

    @classmethod
    def made(
        cls, share: KeyShare, about: bytes, ciphertexts: Sequence[Big], parts: Sequence[Big], bits: Bits
    ) -> DecryptionProof:
        """The proof that these parts are the ciphertexts to twice the exponent; `about` binds it to a session."""
        key, square = share.key, share.key.public.square
        one, other = folded(key, about, ciphertexts, parts)
        mask = big(bits.integer(key.mask_bits))
        first, second = gmp().powmod(one, 4 * mask, square), key.table.power(mask)
        challenge = _challenge(key, share.name, about, (one, other, first, second))
        return cls(challenge, mask + challenge * share.exponent)

    def holds(
        self, key: ThresholdKey, name: str, about: bytes, ciphertexts: Sequence[Big], parts: Sequence[Big]
    ) -> bool:
        """Whether it is a proof of this, by this holder, in this session."""
        if not (0 <= self.challenge < 1 << CHALLENGE and 0 <= self.answer < 1 << (key.mask_bits + 1)):
            return False
        power, inverse, square = gmp().powmod, gmp().invert, key.public.square
        one, other = folded(key, about, ciphertexts, parts)
        below = power(inverse(other, square), 2 * self.challenge, square)
        first = power(one, 4 * self.answer, square) * below % square
        second = (
            key.table.power(self.answer) * power(inverse(key.holders[name], square), self.challenge, square) % square
        )
        return bool(_challenge(key, name, about, (one, other, first, second)) == self.challenge)


def folded(key: ThresholdKey, about: bytes, ciphertexts: Sequence[Big], parts: Sequence[Big]) -> tuple[Big, Big]:
    """All ciphertexts, and all parts, to powers that nobody knew before both were fixed, multiplied up."""
    if len(ciphertexts) == 1:
        return ciphertexts[0], parts[0]
    seed = sha256(framed(PROTOCOL, key.digest, about, *(written(one) for one in (*ciphertexts, *parts)))).digest()
    power, square, found = gmp().powmod, key.public.square, [big(1), big(1)]
    for place, pair in enumerate(zip(ciphertexts, parts, strict=True)):
        weight = _short(seed + place.to_bytes(8, "big"))
        for side in range(2):
            found[side] = found[side] * power(pair[side], weight, square) % square
    return found[0], found[1]


def _challenge(key: ThresholdKey, name: str, about: bytes, numbers: Sequence[Big]) -> Big:
    return _short(framed(PROTOCOL, key.digest, name.encode(), about, *(written(one) for one in numbers)))


def _short(data: bytes) -> Big:
    """A number of 128 bits."""
    return big(int.from_bytes(sha256(data).digest()[: CHALLENGE // 8], "big"))
