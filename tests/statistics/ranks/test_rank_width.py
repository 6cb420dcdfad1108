"""Half-widths in ranks: ends that are searched for on their own side of a value."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.statistics.ranks.rank_width import RankWidth


@pytest.mark.parametrize(("value", "end"), [(2.0, 30.0), (20.0, 20.0), (300.0, 0.01)])
def test_an_end_falls_between_quantile_and_value_as_rarely_as_it_may(value: float, end: float) -> None:
    """By 200,000 draws, which know 5 % to 0.05 %; laws at 101 places know it to less than 1 %. The last end has so
    little noise that its distribution function is zero in floating point at most places."""
    found, rng, draws = RankWidth(0.5, 1e4, 90.0, 0.95, True).beside(value, end), np.random.default_rng(0), 200_000
    above, below = rng.laplace(0, value, draws), rng.normal(0, 50, draws)
    a = found.most - 1

    def log_cdf(x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, x - np.log(2), np.log1p(-0.5 * np.exp(-np.abs(x))))

    missed = -np.expm1(np.minimum(log_cdf((a - below) / end) - log_cdf((a + above) / end), 0.0))
    assert 2 * missed.mean() == pytest.approx(0.05, abs=0.01)  # none where the population's is above the value
