"""A proof that a client's modulus n has no factor in common with phi(n), so that slots are all that it can read."""

from __future__ import annotations

from hashlib import sha256

from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.messages import framed
from discreet.crypto.paillier.big_integers import Big, big, gmp
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import PublicKey

ASKED = "proof of a key"
ROOTS = 11
SMALLEST = 6370  # a prime factor is larger: 6370**-11 < 2**-138
HASHED = b"discreet paillier key proof 1"


def key_proof(key: PrivateKey) -> bytes:
    """The n-th roots of numbers that are hashed from the key.

    If a prime p divides both n and phi(n), at most one number of p has an n-th root modulo n. So who can give roots of
    11 numbers that it could not choose has no such p above 6370, but with a chance of 2**-138; smaller ones are tried
    (Goldberg, Reyzin, Sagga and Baldimtsi 2019).

    Examples
    --------
    >>> key = PrivateKey.drawn(2048, "subgroup")
    >>> check_key_proof(key.public, key_proof(key))
    """
    n, (p, q) = key.public.modulus, key.primes
    exponent = gmp().invert(n, (p - 1) * (q - 1))
    size = -(-key.public.key_bits // 8)
    return b"".join(int(gmp().powmod(one, exponent, n)).to_bytes(size, "big") for one in _challenges(key.public))


def check_key_proof(key: PublicKey, proof: bytes) -> None:
    """Refuse a key whose modulus may have a factor in common with phi(n)."""
    n, size = key.modulus, -(-key.key_bits // 8)
    roots = [big(int.from_bytes(proof[at : at + size], "big")) for at in range(0, ROOTS * size, size)]
    sound = len(proof) == ROOTS * size and not any(n % prime == 0 for prime in range(3, SMALLEST, 2))
    if not sound or any(gmp().powmod(root, n, n) != one for root, one in zip(roots, _challenges(key), strict=True)):
        raise Malformed(ASKED, "the key is not shown to be sound", "Send the proof that was made for it.", UNOPENED)


def _challenges(key: PublicKey) -> list[Big]:
    """Numbers modulo n that whoever draws the key cannot choose."""
    blocks = -(-(key.key_bits + 128) // 256)
    found = []
    for place in range(ROOTS):
        stream = b"".join(
            sha256(framed(HASHED, key.digest, place.to_bytes(2, "big"), block.to_bytes(2, "big"))).digest()
            for block in range(blocks)
        )
        found.append(big(int.from_bytes(stream, "big")) % key.modulus)
    return found
