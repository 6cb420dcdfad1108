from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from discreet.core.grid import Array
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.interval import Interval
from discreet.noise.laplace import (
    DiscreteLaplaceLaw,
    FlooredExponentialLaw,
    FlooredLaplaceLaw,
    discrete_laplace,
    rounded_exponential,
    rounded_laplace,
)
from tests.noise.fit import ALARM, chi_square, chi_square_of_bins

SMALL = [1e-6, 0.05, 0.3, 0.6, 2.0, 7.3]
LARGE = [33.3 * 2**10, 1.3 * 2**30, 1.9 * 2**36, 2.0**52]
DRAWS = 300_000


@pytest.mark.parametrize("scale", SMALL)
def test_discrete_draws_fit_the_two_sided_geometric_law(scale: float) -> None:
    def chance(k: Array) -> Array:
        return np.tanh(0.5 / scale) * np.exp(-np.abs(k) / scale)

    assert chi_square(discrete_laplace(DeterministicBits(11), DRAWS, scale), chance, 90) > ALARM


@pytest.mark.parametrize("scale", SMALL)
def test_rounded_draws_fit_the_law_of_the_rounded_real(scale: float) -> None:
    def chance(k: Array) -> Array:
        real = stats.laplace(scale=scale)
        return np.where(k == 0, 1 - 2 * real.sf(0.5), real.sf(np.abs(k) - 0.5) - real.sf(np.abs(k) + 0.5))

    assert chi_square(rounded_laplace(DeterministicBits(12), DRAWS, scale), chance, 90) > ALARM


def test_draws_at_large_scales_fit_the_real_law() -> None:
    """A step is below 1e-4 scales, which moves a bin's share by less than a tenth of its standard deviation."""
    for sampler, scale in itertools.product((discrete_laplace, rounded_laplace), LARGE):
        draws = sampler(DeterministicBits(13), 500_000, scale) / scale
        assert chi_square_of_bins(draws, stats.laplace.ppf, 997) > ALARM
        assert stats.kstest(draws[:100_000], stats.laplace.cdf).pvalue > ALARM


@pytest.mark.parametrize("sampler", [discrete_laplace, rounded_laplace])
def test_both_signs_and_all_low_bits_are_equally_likely(sampler) -> None:  # type: ignore[no-untyped-def]
    draws = sampler(DeterministicBits(14), 500_000, 1.3 * 2**30)
    assert stats.binomtest(int((draws > 0).sum()), int((draws != 0).sum())).pvalue > ALARM
    for bit in range(16):
        assert stats.binomtest(int((draws >> bit & 1).sum()), draws.size).pvalue > ALARM


def test_neighboring_draws_are_not_related() -> None:
    draws = rounded_laplace(DeterministicBits(15), 500_000, 1.3 * 2**30) / (1.3 * 2**30)
    for lag in (1, 2, 3, 1 << 15):
        assert abs(np.corrcoef(draws[:-lag], draws[lag:])[0, 1]) < 5 / np.sqrt(draws.size)


def test_the_largest_scale_fits_into_int64() -> None:
    draws = rounded_laplace(DeterministicBits(16), 100_000, 2.0**52)
    assert np.abs(draws).max() < 2**57
    assert np.abs(draws).max() > 2**54


def test_draws_are_settled_by_the_law_that_they_are_made_by() -> None:
    for law in (DiscreteLaplaceLaw(3.7), FlooredLaplaceLaw(3.7)):
        for k in (-7, -1, 0, 1, 12):
            settled = law.exact_exponent(k, Interval.of(0.25))
            assert float(settled.lo) == pytest.approx(float(law.exponent(np.array(float(k)), 0.25)), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 0.05, 0.3, 0.6, 2.0, 7.3])
def test_draws_fit_the_geometric_law(scale: float) -> None:
    def chance(k: Array) -> Array:
        return np.where(k < 0, 0.0, -np.expm1(-1 / scale) * np.exp(-np.maximum(k, 0) / scale))

    assert chi_square(rounded_exponential(DeterministicBits(31), 300_000, scale), chance, 90) > ALARM


@pytest.mark.parametrize("scale", [33.3 * 2**10, 1.3 * 2**30, 2.0**52])
def test_exponential_draws_at_large_scales_fit_the_real_law(scale: float) -> None:
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
