"""Counts with noise of a known law: intervals hold as often as they say, whichever law it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.microdata.synthetic.known_counts import FEW, KnownCounts, half_width
from tests.microdata.synthetic.made_up import RECORDS, made, opened


def test_the_interval_of_one_cell_with_laplace_noise_is_exact() -> None:
    for confidence in (0.5, 0.9, 0.95, 0.999):
        assert half_width(np.array([0.0, -3.0]), confidence, laplace=True) == pytest.approx(
            3 / math.sqrt(2) * math.log(1 / (1 - confidence))
        )


def test_intervals_of_sums_hold_as_often_as_they_say() -> None:
    """Equal parts, one great part among small ones, and more parts than are taken one by one; 0.002 is three errors."""
    rng = np.random.default_rng(1)
    for stddevs in (np.ones(2), np.ones(7), np.array([1.0, *[0.1] * 12]), np.ones(2 * FEW), np.array([3.0, 1, 1e-9])):
        sums = rng.laplace(0, 1 / math.sqrt(2), (100_000, len(stddevs))) @ stddevs
        for confidence in (0.8, 0.95):
            inside = np.mean(np.abs(sums) <= half_width(stddevs, confidence, laplace=True))
            assert inside == pytest.approx(confidence, abs=0.004 if confidence < 0.9 else 0.002)


def test_no_noise_and_noise_of_any_size_have_a_width() -> None:
    assert half_width(np.zeros(3), 0.95, laplace=True) == 0.0
    assert half_width(np.empty(0), 0.95, laplace=True) == 0.0
    for unit in (1e-200, 1e200):
        assert half_width(np.full(3, unit), 0.95, laplace=True) / unit == pytest.approx(
            half_width(np.ones(3), 0.95, laplace=True)
        )


def test_a_count_that_two_tables_know_has_the_noise_of_both() -> None:
    known = KnownCounts(np.zeros(2), ((0.5, 1), (0.25, 4)))
    assert known.stddev == pytest.approx(math.sqrt(0.5))
    normal, laplace = (known.half_width(np.array([1.0, 0.0]), 0.95, law) for law in (False, True))
    assert normal == pytest.approx(1.95996 * known.stddev, rel=1e-5)
    assert normal < laplace < 2.12 * known.stddev


@pytest.mark.slow
def test_intervals_of_single_cells_hold_without_a_delta() -> None:
    """95 %, give or take three standard errors of the mean over tables."""
    exact = int(((RECORDS[:, 0] == 0) & (RECORDS[:, 1] == 1)).sum())
    for method in ("tree", "adaptive", "contingency"):
        held = list[bool]()
        for seed in range(600):
            table = made(method, opened(seed), delta=0.0, columns=["a", "b"], random_state=seed)
            found = table.count("a == 'u' and b == 'v'")
            assert found.low is not None
            assert found.high is not None
            held.append(found.low <= exact <= found.high)
        assert 0.95 - 0.03 <= np.mean(held) <= 0.95 + 0.03, method
