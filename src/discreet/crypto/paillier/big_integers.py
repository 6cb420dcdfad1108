"""Arithmetic with integers of thousands of bits: powers of a fixed base, uniform numbers, primes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import MissingExtra
from discreet.core.held import unheld

Big = Any
"""An integer of gmpy2, which has no stubs."""

ROUNDS = 40  # of Miller and Rabin's test
SMALL = 1 << 16  # primes that a candidate is sieved by
STRETCH = 1 << 19  # candidates that are sieved at a time


@cache
def gmp() -> Any:
    """The module gmpy2.

    Raises
    ------
    MissingExtra
        It is not installed.
    """
    try:
        import gmpy2
    except ImportError as why:
        remedy = "Run: pip install 'discreet[paillier]'."
        raise MissingExtra("Paillier encryption", "gmpy2 is not installed", remedy) from why
    return gmpy2


def big(number: int) -> Big:
    """An integer as gmpy2 has it."""
    return gmp().mpz(number)


def uniform_below(end: int, bits: Bits) -> Big:
    """A uniform integer in [0, end): draws that are too large are thrown away.

    Examples
    --------
    >>> from discreet.noise.system_bits import system_bits
    >>> all(uniform_below(3, system_bits()) < 3 for _ in range(20))
    True
    """
    width = int(end - 1).bit_length()
    while (drawn := bits.integer(width)) >= end:
        pass
    return big(drawn)


def uniform_unit(modulus: int, bits: Bits) -> Big:
    """A uniform integer below the modulus that has no factor in common with it."""
    while gmp().gcd(drawn := uniform_below(modulus, bits), modulus) != 1:
        pass
    return drawn


@unheld("cache")
class FixedBase:
    """Powers of one base, by a table of its powers: one product for each digit of the exponent, no squaring.

    The table takes as long as some dozens of powers without it. So the first powers are computed plainly, and it is
    made once they, or one request for many, would have paid for it.

    Parameters
    ----------
    base, modulus : int
        Public.
    width : int
        Public. The bits of the largest exponent.
    digit : int
        Public. The bits of a digit: the table has 2**digit numbers for each.

    Examples
    --------
    >>> int(FixedBase(3, 1000, 16, digit=4).power(4321)) == pow(3, 4321, 1000)
    True
    """

    def __init__(self, base: int, modulus: int, width: int, digit: int) -> None:
        self.modulus, self.width, self.digit = big(modulus), width, digit
        self._base, self._asked = big(base) % self.modulus, 0

    @property
    def pays(self) -> int:
        """From how many powers on the table is worth its making; a plain power is about a product for each bit."""
        return int(2**self.digit // self.digit)

    def power(self, exponent: int) -> Big:
        """The base to this exponent, of at most `width` bits."""
        return self.powers([exponent])[0]

    def powers(self, exponents: Sequence[int]) -> list[Big]:
        """The base to each of these."""
        assert all(0 <= one < 1 << self.width for one in exponents)
        self._asked += len(exponents)
        if self._asked < self.pays:
            return [gmp().powmod(self._base, one, self.modulus) for one in exponents]
        return [self._product(gmp().unpack(big(one), self.digit)) for one in exponents]

    def _product(self, digits: list[int]) -> Big:
        found, modulus = big(1), self.modulus
        for row, digit in zip(self._rows, digits, strict=False):
            found = found * row[digit] % modulus
        return found

    @cached_property
    def _rows(self) -> list[list[Big]]:
        """For each digit of an exponent, the powers of the base to all that it can be."""
        rows, step, modulus = [], self._base, self.modulus
        for _ in range(-(-self.width // self.digit)):
            row = [big(1)]
            for _ in range(2**self.digit - 1):
                row.append(row[-1] * step % modulus)
            rows.append(row)
            step = row[-1] * step % modulus
        return rows


def drawn_prime(width: int, bits: Bits, order: int = 0) -> Big:
    """A prime of exactly this many bits, the highest two set, which is 3 modulo 4.

    Parameters
    ----------
    order : int
        An odd prime that divides the prime less one, where one is wanted.
    """
    step = 4 * order if order else 4
    # 3 modulo 4, and 1 modulo `order`: 1 + 2 order is both, as order is odd
    rest = (1 + 2 * order) % step if order else 3
    while True:
        drawn = big(bits.integer(width) | 3 << (width - 2))
        drawn += rest - drawn % step
        if drawn.bit_length() == width and gmp().is_prime(drawn, ROUNDS):
            return drawn


@cache
def _odd_primes() -> np.ndarray:
    """The odd primes below `SMALL`."""
    prime = np.ones(SMALL, bool)
    prime[:2] = False
    for number in range(2, int(SMALL**0.5) + 1):
        prime[number * number :: number] = False
    return np.flatnonzero(prime)[1:]


def drawn_safe_prime(width: int, bits: Bits) -> Big:
    """A prime p of exactly this many bits, the highest two set, for which (p - 1) / 2 is a prime too.

    The first of its kind after a uniform number, among those that no small prime sorts out.
    """
    power = gmp().powmod
    while True:
        first = big(bits.integer(width - 1) | 3 << (width - 3)) | 1
        for place in _sieved(first):
            half = first + 2 * int(place)
            if power(2, half - 1, half) == 1 and power(2, 2 * half, 2 * half + 1) == 1:
                safe = 2 * half + 1
                if safe.bit_length() == width and gmp().is_prime(half, ROUNDS) and gmp().is_prime(safe, ROUNDS):
                    return safe


def _sieved(first: Big) -> np.ndarray:
    """The k for which neither h = first + 2 k nor 2 h + 1 has a small factor."""
    left = np.ones(STRETCH, bool)
    for prime in _odd_primes().tolist():
        half, rest = (prime + 1) // 2, int(first % prime)
        left[-rest * half % prime :: prime] = False  # h = 0
        left[(prime - 1 - 2 * rest) * half * half % prime :: prime] = False  # 2 h + 1 = 0
    return np.flatnonzero(left)
