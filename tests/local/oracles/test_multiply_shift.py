"""The hash: the same on every machine, uniform, and pairwise independent."""

from __future__ import annotations

import numpy as np

from discreet.local.oracles.multiply_shift import HALF, hashed, public_functions, starts


def test_it_is_what_python_computes_with_long_integers() -> None:
    factors, shifts = public_functions(3, 50)
    assert hex(factors[0]) == "0x557945bcbfc85ecd"
    for factor, shift in zip(factors.tolist(), shifts.tolist(), strict=True):
        for value, buckets in ((0, 2), (1, 3), (12_345, 4), (2**32 - 1, 61)):
            expected = (((factor * value + shift) % 2**64) >> 32) * buckets >> 32
            assert hashed(np.uint64(factor), np.uint64(shift), value, buckets) == expected


def test_pairs_of_values_are_uniform_and_independent() -> None:
    """Of 2**16 functions, five standard deviations for each of nine pairs of buckets."""
    factors, shifts = public_functions(0, 2**16)
    for one, other in ((0, 1), (1, 2), (5, 10), (7, 2**31)):
        pairs = 3 * hashed(factors, shifts, one, 3) + hashed(factors, shifts, other, 3)
        assert np.abs(np.bincount(pairs, minlength=9) - 2**16 / 9).max() < 5 * np.sqrt(2**16 / 9)


def test_a_bucket_starts_where_its_least_hash_is() -> None:
    for buckets in (2, 3, 7, 1000):
        least = starts(np.arange(buckets), buckets)
        assert np.array_equal(least * np.uint64(buckets) >> HALF, np.arange(buckets))
        assert np.array_equal((least[1:] - 1) * np.uint64(buckets) >> HALF, np.arange(buckets - 1))
