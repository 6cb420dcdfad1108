"""Uniform numbers, powers of a fixed base and safe primes, with bits that are known beforehand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from discreet.crypto.paillier import big_integers
from discreet.crypto.paillier.big_integers import FixedBase, drawn_prime, drawn_safe_prime, gmp, uniform_below
from discreet.noise.system_bits import system_bits


class Told:
    """Bits that give these integers, one after the other."""

    secret = False

    def __init__(self, *integers: int) -> None:
        self.left = list(integers)

    def words(self, count: int) -> Any:
        raise NotImplementedError

    def integer(self, width: int) -> int:
        assert self.left[0] < 2**width
        return self.left.pop(0)


def test_draws_that_are_too_large_are_thrown_away() -> None:
    """Of 0 to 7, those from 5 on: each number below 5 comes of one draw alone."""
    found = Counter(int(uniform_below(5, Told(drawn, 0))) for drawn in range(8))
    assert found == {0: 4, 1: 1, 2: 1, 3: 1, 4: 1}
    assert uniform_below(5, Told(5, 7, 6, 3)) == 3


def test_powers_of_a_fixed_base_are_those_of_python() -> None:
    base, modulus = 3**50, 7**60
    for digit in (1, 5, 8, 11):
        table = FixedBase(base, modulus, 70, digit)
        exponents = [0, 1, 2**digit - 1, 2**digit, 2**70 - 1, 0x2ABCDEF0123456789]
        plain = [pow(base, one, modulus) for one in exponents]
        assert [table.power(one) for one in exponents] == plain  # one after the other, without a table at first
        assert table.powers(exponents * table.pays) == plain * table.pays
        assert "_rows" in vars(table)
        for exponent in (-1, 2**70):
            with pytest.raises(AssertionError):
                table.power(exponent)


def test_a_table_is_made_once_it_pays() -> None:
    table = FixedBase(3, 7**60, 70, 8)
    assert table.pays == 32
    table.powers(range(31))
    assert "_rows" not in vars(table)
    table.power(5)
    assert "_rows" in vars(table)
    many = FixedBase(3, 7**60, 70, 8)
    many.powers(range(32))
    assert "_rows" in vars(many)


def test_a_safe_prime_has_a_half_that_is_no_pseudoprime(monkeypatch: pytest.MonkeyPatch) -> None:
    """60701 = 101 * 601 passes Fermat's test to base 2, and 121403 is a prime; 49193 and 98387 are both primes."""
    assert pow(2, 60700, 60701) == 1
    assert gmp().is_prime(121403)
    monkeypatch.setattr(big_integers, "_sieved", lambda first: np.array([0]))
    assert drawn_safe_prime(17, Told(60701, 49193)) == 98387


def test_safe_primes_and_sieves() -> None:
    prime = gmp().is_prime
    for _ in range(3):
        safe = drawn_safe_prime(128, system_bits())
        assert safe.bit_length() == 128
        assert prime(safe)
        assert prime((safe - 1) // 2)
    first = big_integers.big(2**70 + 1)
    left = set(big_integers._sieved(first).tolist())
    for place in range(200):
        half = int(first) + 2 * place
        free = all(half % small and (2 * half + 1) % small for small in range(3, 2**11, 2))
        assert not (place in left and not free)
        assert place in left or not (prime(half) and prime(2 * half + 1))
    assert drawn_prime(64, system_bits()).bit_length() == 64
