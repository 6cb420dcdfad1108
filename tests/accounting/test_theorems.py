from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting.accountant import delta, epsilon
from discreet.accounting.theorems import advanced, amplified, basic, comparison, concentrated, group, optimal
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    Parallel,
    PureLoss,
    RenyiLoss,
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


@pytest.mark.parametrize(
    ("event", "grown"),
    [
        (PureLoss(0.5), PureLoss(1.5)),
        (LaplaceLoss(6.0), LaplaceLoss(2.0)),
        (GaussianLoss(6.0), GaussianLoss(2.0)),
        (ConcentratedLoss(0.1), ConcentratedLoss(0.9)),
        (Repeated(PureLoss(0.5), 4), Repeated(PureLoss(1.5), 4)),
        (Composed((PureLoss(0.5), LaplaceLoss(3.0))), Composed((PureLoss(1.5), LaplaceLoss(1.0)))),
        (Parallel((PureLoss(0.5), PureLoss(0.2))), PureLoss(1.5)),
    ],
)
def test_three_units_cost_by_their_currency(event: Event, grown: Event) -> None:
    found = group(event, 3)
    assert repr(found)[:12] == repr(grown)[:12]
    if isinstance(found, ConcentratedLoss) and isinstance(grown, ConcentratedLoss):
        assert found.rho == pytest.approx(grown.rho)
    else:
        assert found == grown


def test_an_approximate_promise_grows_by_the_chain_of_hops() -> None:
    """P1 <= e^eps P2 + delta, thrice: e^(3 eps) P4 + delta (1 + e^eps + e^(2 eps))."""
    found = group(ApproximateLoss(0.2, 1e-6), 3)
    assert isinstance(found, ApproximateLoss)
    assert found.epsilon == pytest.approx(0.6)
    assert found.delta >= 1e-6 * math.expm1(0.6) / math.expm1(0.2) * (1 - 1e-12)
    assert found.delta == pytest.approx(1e-6 * math.expm1(0.6) / math.expm1(0.2), rel=1e-12)
    certain = group(ApproximateLoss(0.0, 1e-6), 5)
    assert isinstance(certain, ApproximateLoss)
    assert certain.delta == pytest.approx(5e-6)


def test_laplace_trade_offs_iterate_to_the_longer_shift() -> None:
    """1 - f(1 - f(a)) for one shift of Laplace noise is the trade-off of two shifts."""

    def power(level: np.ndarray, shift: float) -> np.ndarray:
        at = np.where(level < 0.5, -np.log(2 * level), np.log(2 * (1 - level))) - shift
        return np.where(at > 0, np.exp(-np.abs(at)) / 2, 1 - np.exp(-np.abs(at)) / 2)

    levels = np.linspace(0.01, 0.99, 99)
    assert power(power(levels, 0.7), 0.7) == pytest.approx(power(levels, 1.4))


def test_a_group_of_one_changes_nothing() -> None:
    for event in (Sampled(GaussianLoss(1.0), 0.1), RenyiLoss((2.0,), (1.0,)), PureLoss(0.3)):
        assert group(event, 1) == event


@pytest.mark.parametrize(
    "event", [Sampled(GaussianLoss(1.0), 0.1), RenyiLoss((2.0,), (1.0,)), Parallel((PureLoss(0.5), GaussianLoss(2.0)))]
)
def test_currencies_without_a_rule_are_refused_by_name(event: Event) -> None:
    with pytest.raises(Unaccountable, match="no rule for groups"):
        group(Composed((PureLoss(0.1), event)), 2)


def test_a_release_without_a_promise_and_a_group_of_none_are_refused() -> None:
    with pytest.raises(Unaccountable):
        group(NoPromise("swapping"), 2)
    with pytest.raises(ParameterError, match="size"):
        group(PureLoss(1.0), 0)
