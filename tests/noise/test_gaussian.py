from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from discreet.core.grid import Array
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.gaussian import DiscreteGaussianLaw, FlooredGaussianLaw, discrete_gaussian, rounded_gaussian
from discreet.noise.interval import Interval
from tests.noise.fit import ALARM, chi_square, chi_square_of_bins

SMALL = [1e-6, 0.05, 0.3, 0.6, 2.0, 7.3]
LARGE = [33.3 * 2**10, 1.3 * 2**30, 1.9 * 2**36, 2.0**52]
DRAWS = 300_000


@pytest.mark.parametrize("stddev", SMALL)
def test_discrete_draws_fit_the_discrete_gaussian(stddev: float) -> None:
    whole = np.exp(-((np.arange(-200.0, 201.0) / stddev) ** 2) / 2).sum()

    def chance(k: Array) -> Array:
        return np.exp(-((k / stddev) ** 2) / 2) / whole

    assert chi_square(discrete_gaussian(DeterministicBits(21), DRAWS, stddev), chance, 60) > ALARM


@pytest.mark.parametrize("stddev", SMALL)
def test_rounded_draws_fit_the_law_of_the_rounded_real(stddev: float) -> None:
    def chance(k: Array) -> Array:
        real = stats.norm(scale=stddev)
        return np.where(k == 0, 1 - 2 * real.sf(0.5), real.sf(np.abs(k) - 0.5) - real.sf(np.abs(k) + 0.5))

    assert chi_square(rounded_gaussian(DeterministicBits(22), DRAWS, stddev), chance, 60) > ALARM


def test_draws_at_large_scales_fit_the_real_law() -> None:
    """A step is below 1e-4 scales, which moves a bin's share by less than a tenth of its standard deviation."""
    for sampler, stddev in itertools.product((discrete_gaussian, rounded_gaussian), LARGE):
        draws = sampler(DeterministicBits(23), 500_000, stddev) / stddev
        assert chi_square_of_bins(draws, stats.norm.ppf, 997) > ALARM
        assert stats.kstest(draws[:100_000], stats.norm.cdf).pvalue > ALARM


@pytest.mark.parametrize("sampler", [discrete_gaussian, rounded_gaussian])
def test_moments_are_those_of_the_normal_law(sampler) -> None:  # type: ignore[no-untyped-def]
    """Standard errors are those of the 2nd, 4th and 6th sample moment; 4.5 of them."""
    draws = sampler(DeterministicBits(24), 500_000, 1.3 * 2**30) / (1.3 * 2**30)
    for order, moment, spread in ((2, 1, 2), (4, 3, 96), (6, 15, 10170)):
        assert abs((draws**order).mean() - moment) < 4.5 * np.sqrt(spread / draws.size)


@pytest.mark.parametrize("sampler", [discrete_gaussian, rounded_gaussian])
def test_both_signs_and_all_low_bits_are_equally_likely(sampler) -> None:  # type: ignore[no-untyped-def]
    draws = sampler(DeterministicBits(25), 500_000, 1.3 * 2**30)
    assert stats.binomtest(int((draws > 0).sum()), int((draws != 0).sum())).pvalue > ALARM
    for bit in range(16):
        assert stats.binomtest(int((draws >> bit & 1).sum()), draws.size).pvalue > ALARM


def test_the_largest_scale_fits_into_int64() -> None:
    draws = rounded_gaussian(DeterministicBits(26), 100_000, 2.0**52)
    assert 2**53 < np.abs(draws).max() < 2**56


def test_draws_are_settled_by_the_law_that_they_are_made_by() -> None:
    for law in (DiscreteGaussianLaw(3.7), FlooredGaussianLaw(3.7)):
        for k in (-7, -1, 0, 1, 12):
            settled = law.exact_exponent(k, Interval.of(0.25))
            assert float(settled.lo) == pytest.approx(float(law.exponent(np.array(float(k)), 0.25)), rel=1e-12)
