from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.accounting.accountant import delta, epsilon
from discreet.accounting.theorems import advanced, amplified, basic, comparison, concentrated, optimal
from discreet.core.errors import ParameterError
from discreet.core.events import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    LaplaceLoss,
    PureLoss,
    Repeated,
    Sampled,
)


def test_a_hundred_small_releases_cost_what_the_textbooks_say() -> None:
    found = comparison(Repeated(PureLoss(0.1), 100), 1e-6)
    assert found["basic"] == pytest.approx(10.0)
    assert found["advanced"] == pytest.approx(6.30823, abs=1e-5)
    assert found["optimal"] == pytest.approx(4.8)
    assert found["accountant"] == pytest.approx(4.774568, abs=1e-6)
    assert comparison(Repeated(LaplaceLoss(10.0), 100), 1e-6)["accountant"] == pytest.approx(4.692667, abs=1e-5)


@pytest.mark.parametrize(("times", "single", "failure"), [(2, 1.0, 0.0), (30, 0.3, 1e-8), (1000, 0.01, 1e-12)])
def test_the_accountant_is_never_worse_than_a_theorem(times: int, single: float, failure: float) -> None:
    event = Repeated(ApproximateLoss(single, failure), times)
    promises = [
        basic(single, failure, times),
        advanced(single, failure, times, 1e-6),
        optimal(single, failure, times, 1e-5),
    ]
    for promise in promises:
        if promise.delta > 0:
            assert epsilon(event, promise.delta) <= promise.epsilon * (1 + 1e-6)


def test_the_optimal_theorem_is_exact_on_its_grid() -> None:
    """Against the sum in exact fractions, for e^epsilon = 3/2."""
    times, base = 20, Fraction(3, 2)
    single = math.log(1.5)
    for index in (1, 4, 9):
        total = (
            sum(math.comb(times, j) * (base ** (times - j) - base ** (times - 2 * index + j)) for j in range(index))
            / (1 + base) ** times
        )
        found = optimal(single, 0.0, times, float(total) * (1 + 1e-9))
        assert found.epsilon == pytest.approx((times - 2 * index) * single)
        assert float(total) <= found.delta <= float(total) * (1 + 1e-9)
        assert delta(Repeated(PureLoss(single), times), found.epsilon) == pytest.approx(float(total), rel=1e-6)


def test_amplification_bounds_the_accountant_s_sampled_release() -> None:
    promise = amplified(1.0, 1e-6, 0.05)
    assert promise.epsilon == pytest.approx(math.log(1 + 0.05 * (math.e - 1)))
    assert delta(Sampled(ApproximateLoss(1.0, 1e-6), 0.05), promise.epsilon) <= promise.delta * (1 + 1e-6)


def test_the_concentrated_theorem_is_above_gaussian_noise_and_the_tight_conversion() -> None:
    promise = concentrated(0.5, 1e-6)
    assert epsilon(GaussianLoss(1.0), 1e-6) < epsilon(ConcentratedLoss(0.5), 1e-6) < promise.epsilon


def test_theorems_refuse_what_they_do_not_cover() -> None:
    with pytest.raises(ParameterError, match="slack"):
        advanced(0.1, 0.0, 10, 0.0)
    with pytest.raises(ParameterError, match="already"):
        optimal(0.1, 1e-3, 10, 1e-6)
    with pytest.raises(ParameterError, match="Repeated"):
        comparison(GaussianLoss(1.0), 1e-6)


def test_every_delta_is_paid_for() -> None:
    assert advanced(0.1, 1e-5, 10, 1e-6).delta == pytest.approx(1.01e-4)
    assert basic(0.1, 1e-5, 10).delta == pytest.approx(1e-4)
