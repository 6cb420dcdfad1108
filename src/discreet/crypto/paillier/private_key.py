"""A private key of Paillier's encryption: drawn, used, and written for its owner alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.checks import check_one_of
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.messages import framed, split
from discreet.crypto.paillier.big_integers import (
    Big,
    FixedBase,
    big,
    drawn_prime,
    drawn_safe_prime,
    gmp,
    uniform_below,
    uniform_unit,
)
from discreet.crypto.paillier.public_key import (
    ASKED,
    MOST,
    SUBGROUP,
    PublicKey,
    Randomness,
    check_key_bits,
    read,
    written,
)
from discreet.noise.system_bits import system_bits

if TYPE_CHECKING:
    from discreet.crypto.paillier.encrypted_array import EncryptedArray

VERSION = b"discreet paillier private key 1"
DIGIT = 10  # bits of a digit of the tables of powers


class PrivateKey:
    """The two primes of a key, and what follows from them.

    It is never printed, copied or pickled. `discreet.service.key_file` keeps it in a file of its owner's alone.

    Parameters
    ----------
    public : PublicKey
        Public.
    primes : tuple of int
        Whose product the modulus is.
    orders : tuple of int, optional
        The orders of the base modulo each prime; p - 1 and q - 1 where it is no subgroup.

    Examples
    --------
    >>> key = PrivateKey.drawn(2048, "subgroup")
    >>> key
    PrivateKey(2048 bits)
    """

    def __init__(self, public: PublicKey, primes: tuple[int, int], orders: tuple[int, int] | None = None) -> None:
        self.public = public
        p, q = map(big, primes)
        if p * q != public.modulus or p == q or not (gmp().is_prime(p) and gmp().is_prime(q)):
            raise ParameterError(ASKED, "its primes are not those of its modulus", "Give a key that was drawn.")
        orders = orders or (p - 1, q - 1)
        self._own = tuple(_PrimePart(prime, big(order), public) for prime, order in zip((p, q), orders, strict=True))
        if any((prime.p - 1) % prime.order or not prime.has_order for prime in self._own):
            raise ParameterError(ASKED, "its base is not of its orders", "Give a key that was drawn.")
        self._inverse, self._square_inverse = gmp().invert(p, q), gmp().invert(p * p, q * q)

    @classmethod
    def drawn(cls, width: int = 2048, randomness: Randomness = "short", bits: Bits | None = None) -> PrivateKey:
        """A fresh key; see `PublicKey` for what is assumed of each kind of randomness.

        Parameters
        ----------
        width : int
            Public. The bits of the modulus: 2048 (112 bits of security) or 3072 (128).
        randomness : {"short", "full", "subgroup"}
            Public.
        bits : Bits, optional
            Where it comes from; the operating system's where not given.
        """
        check_key_bits(width)
        check_one_of(ASKED, "randomness", randomness, get_args(Randomness))
        source, gcd = bits or system_bits(), gmp().gcd
        orders = [drawn_prime(SUBGROUP, source) for _ in range(2)] if randomness == "subgroup" else [0, 0]
        while True:
            p, q = (_drawn_prime(width // 2, source, order) for order in orders)
            if p != q and gcd(p - 1, q - 1) == 2 and gcd(p * q, (p - 1) * (q - 1)) == 1:
                break
        if randomness == "subgroup":
            root = _joined(_of_order(p, orders[0], source), _of_order(q, orders[1], source), p, q)
        else:
            root = -(uniform_unit(p * q, source) ** 2) % (p * q)
        base = gmp().powmod(root, p * q, (p * q) ** 2)
        return cls(PublicKey(p * q, base, randomness), (p, q), tuple(orders) if orders[0] else None)  # type: ignore[arg-type]

    @property
    def primes(self) -> tuple[Big, Big]:
        """The secret itself: for a dealer of shares."""
        one, other = self._own
        return one.p, other.p

    def zeros(self, count: int, bits: Bits) -> list[Big]:
        """Fresh encryptions of zero: uniform powers of the base modulo each prime, put together.

        No exponent is short here, and both are reduced by an order that the owner alone knows.
        """
        one, other = (part.powers(count, bits) for part in self._own)
        p, q = (part.square for part in self._own)
        return [x + p * ((y - x) * self._square_inverse % q) for x, y in zip(one, other, strict=True)]

    def decrypt(self, array: EncryptedArray) -> NDArray[Any]:
        """The numbers of an array.

        Raises
        ------
        Malformed
            It is under another key; or, after the same work, it does not hold what it says.
        """
        if array.key.digest != self.public.digest:
            raise Malformed("decryption", "the array is under another key", "Encrypt it under this one.", UNOPENED)
        return array.opened([self.plain(one) for one in array.ciphertexts])

    def plain(self, ciphertext: Big) -> Big | None:
        """The plaintext modulo n of one ciphertext (Paillier 1999, section 7); None, after all work, if it has none."""
        one, other = (part.plain(ciphertext) for part in self._own)
        p, q = (part.p for part in self._own)
        return None if one is None or other is None else one + p * ((other - one) * self._inverse % q)

    def to_bytes(self) -> bytes:
        """The secret form, with a version: for its owner's file alone."""
        parts = [written(number) for part in self._own for number in (part.p, part.order)]
        return framed(VERSION, self.public.to_bytes(), *parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> PrivateKey:
        """The key in these bytes."""
        version, public, *parts = split(data, 6)
        if version != VERSION:
            raise Malformed(ASKED, "it has another version, or is none", "Give the file that was written.", UNOPENED)
        p, order, q, other = (read(part, MOST // 8) for part in parts)
        try:
            return cls(PublicKey.from_bytes(public), (p, q), (order, other))
        except (ParameterError, ZeroDivisionError) as why:
            raise Malformed(ASKED, "its numbers cannot be those of a key", "Give what was written.", UNOPENED) from why

    def __repr__(self) -> str:
        return f"PrivateKey({self.public.key_bits} bits)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("PrivateKey holds a secret and is neither copied nor pickled")


class _PrimePart:
    """What the owner computes modulo the square of one prime."""

    def __init__(self, p: Big, order: Big, public: PublicKey) -> None:
        self.p, self.order, self.square = p, order, p * p
        self._base = public.base % self.square
        shown = gmp().powmod(1 + public.modulus, order, self.square)
        self._scale = gmp().invert((shown - 1) // p, p)

    @property
    def has_order(self) -> bool:
        return bool(gmp().powmod(self._base, self.order, self.square) == 1)

    @cached_property
    def _table(self) -> FixedBase:
        """30 MB for 2048 bits, once it is needed."""
        return FixedBase(self._base, self.square, int(self.order.bit_length()), DIGIT)

    def powers(self, count: int, bits: Bits) -> list[Big]:
        """Uniform powers of the base."""
        return self._table.powers([uniform_below(self.order, bits) for _ in range(count)])

    def plain(self, ciphertext: Big) -> Big | None:
        """The plaintext modulo p: c**order has no randomness left, and is 1 + m order n modulo p**2.

        There is none where randomness is left: no key of this base made the ciphertext.
        """
        shown = gmp().powmod(ciphertext % self.square, self.order, self.square)
        found, rest = gmp().f_divmod(shown - 1, self.p)
        found = found * self._scale % self.p
        return None if rest else found

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a part of a private key is neither copied nor pickled")


def _drawn_prime(width: int, bits: Bits, order: Big) -> Big:
    """A safe prime; or one with a subgroup of this order."""
    return drawn_prime(width, bits, int(order)) if order else drawn_safe_prime(width, bits)


def _of_order(p: Big, order: Big, bits: Bits) -> Big:
    """A number of this prime order modulo p."""
    while (found := gmp().powmod(uniform_unit(p, bits), (p - 1) // order, p)) == 1:
        pass
    return found


def _joined(one: Big, other: Big, p: Big, q: Big) -> Big:
    return one + p * ((other - one) * gmp().invert(p, q) % q)
