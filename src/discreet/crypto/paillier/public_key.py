"""A public key of Paillier's encryption: what anybody needs to encrypt, to add, and to check what arrives."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, Protocol, get_args

from discreet.core.bits import Bits
from discreet.core.checks import check_one_of
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.messages import framed, split
from discreet.crypto.paillier.big_integers import Big, FixedBase, big, gmp

ASKED = "Paillier key"
VERSION = b"discreet paillier public key 1"
LEAST, MOST = 2048, 8192  # bits of a key
SUBGROUP = 256  # bits of the prime order of a subgroup
MARGIN = 64  # bits by which an exponent is longer than the order, so that its power is almost uniform
DIGIT = 9  # bits of a digit of the table of powers
PROOF = 288  # bits by which an exponent of a proof is longer

Randomness = Literal["short", "full", "subgroup"]


def check_key_bits(width: int) -> None:
    """Refuse keys that can be broken, and those that nobody waits for."""
    if not (isinstance(width, int) and LEAST <= width <= MOST and width % 2 == 0):
        raise ParameterError(ASKED, f"it would have {width} bits", f"Take 2048 or 3072, and {MOST} at most.")


class Encryptor(Protocol):
    """Whoever can encrypt: anybody with the public key, its owner, or a pool of work done before."""

    @property
    def public(self) -> PublicKey:
        """The key."""

    def zeros(self, count: int, bits: Bits) -> list[Big]:
        """Fresh encryptions of zero."""


@dataclass(frozen=True)
class PublicKey:
    """A modulus n = p q, and an n-th power modulo n**2 whose powers make ciphertexts random.

    A number m is encrypted as (1 + m n) base**a modulo n**2, with a fresh exponent a (Damgård, Jurik and Nielsen 2010).
    Ciphertexts say nothing about what is in them if n-th powers cannot be distinguished from other numbers modulo n**2
    (the decisional composite residuosity assumption) and, by `randomness`:

    "short", the default: an exponent of half as many bits as n has. Its powers cannot be distinguished from those of
    longer exponents if n is hard to factor (Goldreich and Rosen 2003). Primes are safe primes.

    "full": an exponent 64 bits longer than n. Nothing further is assumed. Primes are safe primes.

    "subgroup": the base has a secret order of two primes of 256 bits, which divide p - 1 and q - 1. That it cannot be
    distinguished from a base of large order is a further assumption, which has been studied less (Paillier 1999,
    section 6). Encryption and decryption are faster.

    Parameters
    ----------
    modulus : int
        Public. n.
    base : int
        Public. An n-th power modulo n**2, by whoever drew the key.
    randomness : {"short", "full", "subgroup"}
        Public. How the exponents are drawn.
    """

    modulus: Big = field(repr=False)
    base: Big = field(repr=False)
    randomness: Randomness = "short"

    def __post_init__(self) -> None:
        check_one_of(ASKED, "randomness", self.randomness, get_args(Randomness))
        for name in ("modulus", "base"):
            object.__setattr__(self, name, big(getattr(self, name)))
        check_key_bits(self.key_bits)
        if self.modulus % 2 == 0 or not self.is_unit(self.base) or self.base == 1:
            raise ParameterError(ASKED, "its numbers cannot be those of a key", "Give what its owner handed out.")

    @property
    def public(self) -> PublicKey:
        return self

    @property
    def key_bits(self) -> int:
        return int(self.modulus.bit_length())

    @cached_property
    def square(self) -> Big:
        """The modulus of ciphertexts."""
        return self.modulus**2

    @property
    def size(self) -> int:
        """The bytes of a ciphertext."""
        return -(-2 * self.key_bits // 8)

    @property
    def exponent_bits(self) -> int:
        """Of the exponents that anybody draws."""
        widths = {"short": self.key_bits // 2, "full": self.key_bits + MARGIN, "subgroup": 2 * SUBGROUP + MARGIN}
        return widths[self.randomness]

    @cached_property
    def digest(self) -> bytes:
        """The key in 32 bytes, which every ciphertext carries."""
        return sha256(self.to_bytes()).digest()

    @cached_property
    def table(self) -> FixedBase:
        """The powers of the base, for proofs too; 41 MB for 2048 bits, once they are needed."""
        return FixedBase(self.base, self.square, self.exponent_bits + PROOF, DIGIT)

    def zeros(self, count: int, bits: Bits) -> list[Big]:
        """Fresh encryptions of zero."""
        return self.table.powers([bits.integer(self.exponent_bits) for _ in range(count)])

    def holds(self, plain: Big) -> Big:
        """A number as an element that whoever sees it can read: to be multiplied by an encryption of zero."""
        return 1 + plain % self.modulus * self.modulus  # below n**2

    def signed(self, plain: Big) -> Big:
        """A plaintext modulo n as the number nearest to zero."""
        return plain - self.modulus if 2 * plain > self.modulus else plain

    def is_unit(self, number: Big) -> bool:
        """Whether it can be a ciphertext: in (0, n**2), without a factor in common with n."""
        return bool(0 < number < self.square and gmp().gcd(number, self.modulus) == 1)

    def check_units(self, asked: str, numbers: list[Big]) -> None:
        """Refuse numbers that are no ciphertexts, all in one test."""
        product, modulus = big(1), self.modulus
        inside = all(0 < number < self.square for number in numbers)
        for number in numbers:
            product = product * number % modulus
        if not inside or gmp().gcd(product, modulus) != 1:
            raise Malformed(asked, "a number in it is no ciphertext", "Ask for it again.", UNOPENED)

    def to_bytes(self) -> bytes:
        """The form in which it travels, with a version."""
        return framed(VERSION, self.randomness.encode(), written(self.modulus), written(self.base))

    @classmethod
    def from_bytes(cls, data: bytes) -> PublicKey:
        """The key in these bytes."""
        version, randomness, modulus, base = split(data, 4)
        if version != VERSION:
            raise Malformed(ASKED, "it has another version, or is none", "Ask for it again.", UNOPENED)
        try:
            chosen: Randomness = randomness.decode("ascii", "replace")  # type: ignore[assignment]
            return cls(read(modulus, MOST // 8), read(base, MOST // 4), chosen)
        except ParameterError as why:
            raise Malformed(ASKED, why.obstacle, why.remedy, UNOPENED) from why

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled without its table."""
        return PublicKey, (self.modulus, self.base, self.randomness)

    def __repr__(self) -> str:
        return f"PublicKey({self.key_bits} bits, {self.randomness}, {self.digest.hex()[:16]})"


def written(number: int) -> bytes:
    """An integer of any length, in one way only.

    Examples
    --------
    >>> len(written(258)), read(written(258), 8)
    (2, mpz(258))
    """
    return int(number).to_bytes(-(-int(number).bit_length() // 8), "big")


def read(data: bytes, most: int) -> Big:
    """The integer of at most so many bytes that was written."""
    if len(data) > most or data[:1] == b"\0":
        raise Malformed("number", "it is too long, or begins with a zero", "Ask for it again.", UNOPENED)
    return big(int.from_bytes(data, "big"))
