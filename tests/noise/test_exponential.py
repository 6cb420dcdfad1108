from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.core.grid import Array
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.exponential import FlooredExponentialLaw, rounded_exponential
from discreet.noise.interval import Interval
from tests.noise.fit import ALARM, chi_square, chi_square_of_bins


@pytest.mark.parametrize("scale", [1e-6, 0.05, 0.3, 0.6, 2.0, 7.3])
def test_draws_fit_the_geometric_law(scale: float) -> None:
    def chance(k: Array) -> Array:
        return np.where(k < 0, 0.0, -np.expm1(-1 / scale) * np.exp(-np.maximum(k, 0) / scale))

    assert chi_square(rounded_exponential(DeterministicBits(31), 300_000, scale), chance, 90) > ALARM


@pytest.mark.parametrize("scale", [33.3 * 2**10, 1.3 * 2**30, 2.0**52])
def test_draws_at_large_scales_fit_the_real_law(scale: float) -> None:
    draws = rounded_exponential(DeterministicBits(32), 500_000, scale)
    assert draws.min() >= 0
    assert chi_square_of_bins(np.asarray((draws + 0.5) / scale, np.float64), stats.expon.ppf, 997) > ALARM


@pytest.mark.parametrize("scale", [0.1, 1.0, 1.3 * 2**30])
def test_each_further_step_costs_the_same_factor(scale: float) -> None:
    """Then the weights are geometric and P(R >= r + k) = exp(-k / scale) P(R >= r)."""
    law, nothing = FlooredExponentialLaw(scale), Interval.of(0)
    costs = [law.exact_exponent(k, nothing) - law.exact_exponent(k - 1, nothing) for k in (1, 2, 1000, 2**40)]
    for cost in costs:
        assert float(cost.lo) == pytest.approx(1 / scale, rel=1e-12)
