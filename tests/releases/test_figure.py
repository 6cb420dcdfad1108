"""How far noise and sampling throw a figure, against closed forms and simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.releases.figure import SMALLEST, Figure, Sampling
from discreet.releases.spread import Spread

LAPLACE, GAUSSIAN = Spread(Laplace(), math.sqrt(2)), Spread(Gaussian(), 1.0)


def sampled(variance: float, weights: list[float] | None = None, records: float = 1000.0) -> Figure:
    wobble = 2 * variance**2 / (records - 1)
    return Figure(3.0, np.array([1.0]), Sampling(variance, np.array(weights or [0.0]), wobble, records))


def test_without_sampling_an_interval_is_that_of_the_noise() -> None:
    weights = np.array([0.3, -1.0])
    assert Figure(0.0, weights).half_width(LAPLACE, 0.9) == LAPLACE.half_width(weights, 0.9)
    assert Figure(0.0, weights).standard_error(LAPLACE) == pytest.approx(math.sqrt(2 * 1.09))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99999])
def test_many_weights_that_are_alike_lose_no_digits(confidence: float) -> None:
    """Six Laplace variables add up to the difference of two gamma variables of shape six: integrated numerically."""
    width = Figure(0.0, np.ones(6)).half_width(LAPLACE, confidence)
    gamma, grid = stats.gamma(6), np.linspace(0, 60, 60_001)
    beyond = np.trapezoid(gamma.pdf(grid) * gamma.sf(grid + width), grid)
    assert 2 * beyond == pytest.approx(1 - confidence, rel=5e-3)


def test_without_noise_an_interval_is_student_s() -> None:
    """Twelve records: eleven degrees of freedom."""
    silent = Spread(Gaussian(), 1e-12)
    figure = sampled(4.0, records=12.0)
    assert figure.degrees(silent) == pytest.approx(11.0)
    assert figure.half_width(silent, 0.95) == pytest.approx(2 * stats.t.ppf(0.975, 11), rel=1e-6)
    assert figure.p_value(silent, 5.0) == pytest.approx(2 * stats.t.sf(2.5, 11), rel=1e-6)
    assert figure.half_width(silent, 0.999999) == pytest.approx(2 * stats.t.ppf(1 - 5e-7, 11), rel=1e-6)


@pytest.mark.parametrize("spread", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize("variance", [0.01, 1.0, 100.0])
def test_a_p_value_and_an_interval_agree(spread: Spread, variance: float) -> None:
    figure = sampled(variance, [0.5])
    for confidence in (0.5, 0.95, 0.999):
        width = figure.half_width(spread, confidence)
        assert figure.p_value(spread, width) == pytest.approx(1 - confidence, rel=1e-4)


def test_p_values_fall_from_one_to_the_smallest_and_no_farther() -> None:
    figure = sampled(1.0)
    values = [figure.p_value(LAPLACE, distance) for distance in np.linspace(0, 400, 50)]
    assert values[0] == 1
    assert all(later <= earlier for earlier, later in pairwise(values))
    assert values[-1] >= SMALLEST


def test_noise_in_the_sampling_variance_takes_degrees_of_freedom_but_not_all() -> None:
    assert sampled(1.0).degrees(LAPLACE) > 999
    none, little, more = (sampled(1.0, [weight]).degrees(LAPLACE) for weight in (0.0, 0.1, 0.2))
    assert more < little < none
    assert sampled(1.0, [100.0]).degrees(LAPLACE) == pytest.approx(3, rel=0.01)
    assert sampled(1.0, [100.0], records=2.0).degrees(LAPLACE) == 1


@pytest.mark.parametrize("unsure", [0.1, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("variance", [0.01, 0.3, 1.0, 3.0, 10.0])
def test_a_noisy_sampling_variance_still_makes_intervals_that_cover(variance: float, unsure: float) -> None:
    """Noise of variance one, and noise of this deviation in the sampling variance. 2000 draws, each with the chance
    that a normal variable of the exact variance is inside. Where there is more noise in the variance than in the
    figure, it may be all."""
    rng, held = np.random.default_rng(7), []
    for noise in rng.normal(0, unsure, 2000):
        found = Figure(0.0, np.ones(1), Sampling(max(variance + noise, 0.0), np.array([unsure]), 0.0, 1e6))
        held.append(2 * ndtr(found.half_width(GAUSSIAN, 0.95) / math.sqrt(1 + variance)) - 1)
    assert 0.935 <= np.mean(held) <= (0.985 if unsure <= 1 else 1.0)


def test_a_ratio_is_off_by_what_noise_makes_of_the_supposed_value() -> None:
    """Fieller 1954: for a ratio of one sum to the sum of both."""
    sums = np.array([30.0, 70.0])
    ratio = Figure(0.7, (np.array([0.0, 1.0]) - 0.7) / sums.sum(), bend=1 / sums.sum())
    np.testing.assert_allclose(ratio.supposed(0.2).weights, (np.array([0.0, 1.0]) - 0.2) / sums.sum())
    assert ratio.supposed(0.2).value == 0.7
    assert (ratio - ratio).bend == 0


def test_an_unknown_sampling_error_leaves_nothing_to_say() -> None:
    unknown = Figure(0.0, np.ones(1), Sampling(math.inf, np.zeros(1), 0.0, 1.0))
    assert unknown.half_width(LAPLACE, 0.95) == math.inf
    assert unknown.p_value(LAPLACE, 1e9) == 1
    assert (unknown - sampled(1.0)).p_value(LAPLACE, 1e9) == 1


def test_a_difference_adds_the_variances_of_both() -> None:
    difference = sampled(4.0, records=50.0) - sampled(5.0, records=20.0)
    assert difference.value == 0
    assert difference.standard_error(GAUSSIAN) == pytest.approx(math.sqrt(4 + 5 + 2))
    assert difference.sampling is not None
    assert difference.sampling.records == 20
    welch = (4 + 5) ** 2 / (4**2 / 49 + 5**2 / 19)
    assert difference.degrees(Spread(Gaussian(), 1e-9)) == pytest.approx(welch)
    assert (Figure(1.0, np.ones(1)) - Figure(3.0, np.ones(2))).half_width(GAUSSIAN, 0.95) == pytest.approx(
        1.96 * math.sqrt(3), rel=1e-3
    )


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_intervals_of_noise_and_sample_cover_as_they_say(noise: str) -> None:
    """20,000 draws of each: three standard errors of a share of 0.95 are 0.0046."""
    rng = np.random.default_rng(0)
    draws = rng.laplace(size=20_000) if noise == "laplace" else rng.normal(size=20_000)
    off = np.abs(draws + rng.normal(0, 1.5, 20_000))
    figure = sampled(1.5**2, records=1e6)
    width = figure.half_width(LAPLACE if noise == "laplace" else GAUSSIAN, 0.95)
    assert (off <= width).mean() == pytest.approx(0.95, abs=0.0046)
