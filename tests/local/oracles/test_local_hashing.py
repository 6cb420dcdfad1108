"""Local hashing: the count of a report is over all values with its bucket."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.oracles.local_hashing import LocalHashing
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [LocalHashing(), LocalHashing(0.3, 5), LocalHashing(2.5, 1000)], fingerprints={"olh": "8eda9d9aed3570d3"}
)


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
