"""Local hashing: the count of a report is over all values with its bucket."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.oracles.local_hashing import HALF, LocalHashing, hashed, public_functions, starts
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [LocalHashing(), LocalHashing(0.3, 5), LocalHashing(2.5, 1000)], fingerprints={"olh": "8eda9d9aed3570d3"}
)


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


def test_a_report_supports_the_values_of_its_bucket_and_no_other() -> None:
    for oracle in (LocalHashing(0.3, 700), LocalHashing(1.7, 700), LocalHashing(12.0, 70)):
        reports = oracle.reports(np.arange(70), DeterministicBits(1))
        counted = oracle.tallied(reports)
        assert np.array_equal(counted, [oracle.supports(reports, value).sum() for value in range(oracle.size)])


def test_a_bucket_that_does_not_exist_is_refused() -> None:
    oracle = LocalHashing(1.0, 10)
    report = oracle.reports([1], DeterministicBits(1))
    report["bucket"] = oracle.buckets
    with pytest.raises(ParameterError, match="bucket above 3"):
        oracle.accepted(report)
