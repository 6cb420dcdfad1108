"""Where a target lies: means and quantiles of noisy counts, without a tail that noise could feign."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.learners.linear.target_distribution import TargetDistribution

CELLS = np.arange(4000)


def counts_of(law: stats.rv_continuous, upper: float, n: int = 100_000) -> np.ndarray:
    return n * np.diff(law.cdf(np.linspace(0, upper, len(CELLS) + 1)))


def test_without_noise_means_and_quantiles_are_exact() -> None:
    for law in (stats.gamma(2.0, scale=5.0), stats.norm(30.0, 8.0), stats.uniform(10.0, 50.0)):
        found = TargetDistribution.of(counts_of(law, 150.0), 1e-3, 0.0, 150.0)
        assert found.mean == pytest.approx(law.mean(), rel=0.01)
        assert found.variance == pytest.approx(law.var(), rel=0.02)
        for level in (0.02, 0.3, 0.5, 0.95):
            assert found.quantile(level) == pytest.approx(law.ppf(level), abs=0.1)


def test_the_spread_of_a_normal_target_is_its_deviation_at_every_level() -> None:
    found = TargetDistribution.of(counts_of(stats.norm(75.0, 8.0), 150.0), 1e-3, 0.0, 150.0)
    for level in (0.05, 0.5, 0.9):
        assert found.spread(level) == pytest.approx(8.0, rel=0.02)


def test_a_tail_that_noise_could_feign_is_that_of_an_exponential_law() -> None:
    """A fiftieth of all records is feigned at the end of wide bounds: the mean would be five times as large."""
    law = stats.expon(scale=5.0)
    counts = counts_of(law, 1000.0, 1000)
    counts[-100] += 20.0
    found = TargetDistribution.of(counts, 15.0, 0.0, 1000.0)
    assert found.mean == pytest.approx(5.0, rel=0.15)
    assert found.quantile(0.99) == pytest.approx(law.ppf(0.99), rel=0.2)
    assert TargetDistribution.of(counts, 1.0, 0.0, 1000.0).mean > 20.0


def test_the_mean_has_the_part_of_a_tail_that_is_not_known() -> None:
    """A fifth of the records of an exponential law is beyond what is known: without its excess, the mean would be 4."""
    found = TargetDistribution.of(counts_of(stats.expon(scale=5.0), 1000.0, 1000), 50.0, 0.0, 1000.0)
    assert found.mean == pytest.approx(5.0, rel=0.1)


def test_the_lower_tail_is_read_as_the_upper_one() -> None:
    counts = counts_of(stats.expon(scale=5.0), 1000.0, 1000)
    counts[-100] += 50.0
    up, down = (TargetDistribution.of(one, 15.0, 0.0, 1000.0) for one in (counts, counts[::-1]))
    for level in (0.5, 0.9, 0.99):
        assert down.quantile(1 - level) == pytest.approx(1000.0 - up.quantile(level), abs=1.0)


def test_counts_that_are_mostly_noise_give_numbers_within_the_bounds() -> None:
    rng = np.random.default_rng(0)
    for counts in (*rng.normal(scale=100.0, size=(10, 200)), np.zeros(200), np.full(200, -1.0)):
        found = TargetDistribution.of(counts, 1e3, -10.0, 30.0)
        assert all(-10 <= found.quantile(level) <= 30 for level in (0.01, 0.5, 0.99))
        assert 0 < found.spread(0.9) < 100
        assert found.mean > 0
