"""Coefficients as bytes: back as they were, and refused where they are none."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.crypto.errors import Malformed
from discreet.crypto.matching.residues import packed, packed_size, unpacked

PRIMES = (68719230977, 68719403009, 137438822401)


def test_what_is_packed_comes_back_in_the_stated_number_of_bytes() -> None:
    rng = np.random.default_rng(0)
    for primes in (PRIMES, PRIMES[:2], (97,), (2**20 - 3, 2**40 - 87)):
        numbers = np.array([[rng.integers(0, prime, 16) for prime in primes] for _ in range(3)], np.uint64)
        numbers[0, :, 0], numbers[0, :, 1] = [prime - 1 for prime in primes], 0
        data = packed(numbers, primes)
        assert len(data) == packed_size(primes, 3, 16)
        assert (unpacked(data, primes, 3, 16) == numbers).all()


def test_a_coefficient_that_is_not_below_its_prime_is_refused_in_every_place() -> None:
    for place in range(0, 16, 5):
        for polynomial in range(2):
            for which, prime in enumerate(PRIMES):
                numbers = np.zeros((2, 3, 16), np.uint64)
                numbers[polynomial, which, place] = prime
                with pytest.raises(Malformed, match="below its prime"):
                    unpacked(packed(numbers, PRIMES), PRIMES, 2, 16)


def test_another_length_is_refused() -> None:
    data = bytes(packed_size(PRIMES, 2, 16))
    for wrong in (b"", data[:-1], data + b"0"):
        with pytest.raises(Malformed, match="bytes"):
            unpacked(wrong, PRIMES, 2, 16)
