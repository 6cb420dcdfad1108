from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from discreet.accounting.event_renyi import _binomial_excess, _integrated_excess, laplace, pure, sampled_curve
from discreet.accounting.renyi import delta_from_renyi, epsilon_from_renyi, renyi
from discreet.core.errors import ParameterError
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    LossTable,
    Parallel,
    PureLoss,
    RenyiLoss,
    Repeated,
    Sampled,
)

mp = pytest.importorskip("mpmath")
ORDERS = (1.01, 1.5, 2.0, 3.7, 16.0, 64.0)


def of_pair(p: list[float], q: list[float], order: float) -> float:
    with mp.workdps(50):
        total = sum(mp.mpf(a) ** order * mp.mpf(b) ** (1 - order) for a, b in zip(p, q, strict=True))
        return float(mp.log(total) / (order - 1))


def gaussian_curve(multiplier: float, order: float) -> float:
    return order / multiplier**2 / 2


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon", [1e-7, 0.1, 1.0, 8.0, 60.0])
def test_a_pure_loss_costs_what_randomized_response_does(epsilon: float, order: float) -> None:
    with mp.workdps(50):
        often = mp.exp(mp.mpf(epsilon)) / (1 + mp.exp(mp.mpf(epsilon)))
        exact = of_pair([often, 1 - often], [1 - often, often], order)
    assert exact <= renyi(PureLoss(epsilon), order).divergence <= exact * (1 + 1e-9)


@given(st.floats(0.05, 3.0), st.floats(1.1, 20.0), st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3))
def test_no_pure_pair_costs_more_than_randomized_response(epsilon: float, order: float, places: list[float]) -> None:
    q = np.array([0.2, 0.3, 0.5])
    ratios = np.exp(epsilon * (2 * np.array(places) - 1))
    p = q * ratios
    scaled = p / p.sum()
    spread = np.abs(np.log(scaled / q)).max()
    assert of_pair(scaled.tolist(), q.tolist(), order) <= pure(float(spread), order) * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("multiplier", [1e6, 10.0, 1.0, 0.2])
def test_a_laplace_loss_costs_its_integral(multiplier: float, order: float) -> None:
    epsilon = mp.mpf(1) / mp.mpf(multiplier)
    with mp.workdps(50):
        inside = mp.quad(lambda x: mp.exp(order * -x * epsilon - (1 - order) * (1 - x) * epsilon), [0, 1]) * epsilon / 2
        ends = mp.exp((order - 1) * epsilon) / 2 + mp.exp(-order * epsilon) / 2
        exact = float(mp.log(inside + ends) / (order - 1))
    assert renyi(LaplaceLoss(multiplier), order).divergence == pytest.approx(exact, rel=1e-8)
    assert laplace(float(epsilon), order) >= exact * (1 - 1e-12)


@pytest.mark.parametrize("order", [1.25, 2.0, 4.5, 8.0])
@pytest.mark.parametrize(("multiplier", "rate"), [(1.1, 256 / 60000), (0.8, 0.001), (4.0, 0.3), (0.6, 0.9)])
def test_a_sampled_gaussian_costs_the_integral_of_its_mixture(multiplier: float, rate: float, order: float) -> None:
    variance = multiplier**2

    def excess(x: float) -> float:
        mixture = math.log1p(rate * math.expm1((2 * x - 1) / (2 * variance)))
        bend = math.exp(order * mixture) - 1 - order * math.expm1(mixture)
        return bend * math.exp(-(x**2) / (2 * variance)) / (multiplier * math.sqrt(2 * math.pi))

    places = [-20 * multiplier, 0, order / 2, order, order + 20 * multiplier]
    whole = sum(quad(excess, a, b, epsabs=0, epsrel=1e-11, limit=200)[0] for a, b in pairwise(places))
    exact = math.log1p(whole) / (order - 1)
    assert renyi(Sampled(GaussianLoss(multiplier), rate), order).divergence == pytest.approx(
        min(exact, order / variance / 2), rel=1e-8
    )


@pytest.mark.parametrize(("multiplier", "rate"), [(1.1, 0.01), (0.7, 0.3), (5.0, 0.9)])
def test_the_unit_s_addition_never_costs_more_than_its_removal(multiplier: float, rate: float) -> None:
    variance = multiplier**2
    for order in (1.5, 4.0, 12.0):

        def addition(x: float, order: float = order) -> float:
            mixture = math.log1p(rate * math.expm1((2 * x - 1) / (2 * variance)))
            return math.exp((1 - order) * mixture - x**2 / (2 * variance)) / (multiplier * math.sqrt(2 * math.pi))

        moment = quad(addition, -30 * multiplier, 30 * multiplier, points=[0.0, 0.5], limit=400)[0]
        found = renyi(Sampled(GaussianLoss(multiplier), rate), order).divergence
        assert math.log(moment) / (order - 1) <= found * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("order", [2, 3, 17, 100])
def test_the_quadrature_agrees_with_the_binomial_sum_at_whole_orders(order: int) -> None:
    for multiplier, rate in ((1.1, 0.01), (0.5, 0.2), (20.0, 0.5)):
        summed = _binomial_excess(partial(gaussian_curve, multiplier), rate, order)
        integrated = _integrated_excess(multiplier, rate, float(order))
        assert integrated == pytest.approx(summed, abs=1e-10 * (1 + abs(summed)))


@pytest.mark.parametrize("order", [2.0, 8.0, 32.0, 255.0])
def test_dp_accounting_agrees_on_sampled_gaussians(order: float) -> None:
    theirs = rdp_privacy_accountant._compute_rdp_poisson_subsampled_gaussian(0.01, 1.3, [order])[0]
    ours = renyi(Sampled(GaussianLoss(1.3), 0.01), order).divergence
    assert ours == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("order", [1.5, 2.0, 5.0, 40.0])
def test_a_sampled_response_costs_the_dearer_direction(order: float) -> None:
    rate, often = 0.05, math.e / (1 + math.e)
    p, q = np.array([often, 1 - often]), np.array([1 - often, often])
    mixture = rate * p + (1 - rate) * q
    exact = max(of_pair(mixture.tolist(), q.tolist(), order), of_pair(q.tolist(), mixture.tolist(), order))
    found = renyi(Sampled(PureLoss(1.0), rate), order)
    assert exact <= found.divergence <= exact * (1 + 1e-6)
    assert found.delta == 0


@pytest.mark.parametrize("scheme", ["poisson", "fixed_size"])
def test_bounds_by_the_curve_alone_are_above_the_true_sampled_loss(scheme: str) -> None:
    for order in (1.5, 2.0, 6.0, 30.0):
        alone = sampled_curve(lambda k: k / 2, 0.01, order, scheme)  # type: ignore[arg-type]
        exact = renyi(Sampled(GaussianLoss(1.0), 0.01, scheme), order).divergence  # type: ignore[arg-type]
        assert exact <= alone * (1 + 1e-6)
        assert alone <= order / 2 * (1 + 1e-12)


def test_sampling_a_concentrated_loss_amplifies_it() -> None:
    event = Sampled(ConcentratedLoss(0.5), 0.01)
    assert renyi(event, 4.0).divergence < 0.01 * renyi(ConcentratedLoss(0.5), 4.0).divergence


def test_divergences_add_up_and_failures_do_too() -> None:
    event = Composed((Repeated(ApproximateLoss(0.1, 1e-6), 10), GaussianLoss(2.0)))
    found = renyi(event, 3.0)
    parts = 10 * pure(0.1, 3.0) + 3.0 / 8
    assert found.divergence == pytest.approx(parts, rel=1e-11)
    assert -math.expm1(10 * math.log1p(-1e-6)) <= found.delta <= 1e-5 * (1 + 1e-9)


def test_of_parallel_parts_the_greatest_counts_at_every_order() -> None:
    parts = (PureLoss(1.0), GaussianLoss(1.5))
    for order in (1.5, 50.0):
        assert renyi(Parallel(parts), order).divergence == pytest.approx(
            max(renyi(part, order).divergence for part in parts), rel=1e-10
        )


def test_a_tabulated_curve_is_interpolated_from_above() -> None:
    event = RenyiLoss((2.0, 4.0, math.inf), (1.0, 2.0, 8.0))
    assert renyi(event, 2.0).divergence == pytest.approx(1.0)
    assert 4 / 3 <= renyi(event, 3.0).divergence <= 2.0  # (order - 1) * divergence = 1, 3.5, 6 on the chord
    assert renyi(event, 3.0).divergence == pytest.approx(1.75)
    assert renyi(event, 100.0).divergence == pytest.approx(8.0)
    assert renyi(RenyiLoss((2.0,), (1.0,)), 2.5).divergence == math.inf


def test_a_table_costs_the_sum_over_its_losses_and_its_infinity_is_delta() -> None:
    masses, step = (0.3, 0.1, 0.59), 0.5
    event = DiscreteLoss(step, LossTable(-1, masses, 0.01), LossTable(-1, (0.3, 0.2, 0.5)))
    order = 3.0
    exact = math.log(sum(p / 0.99 * math.exp((order - 1) * k * step) for k, p in zip((-1, 0, 1), masses, strict=True)))
    found = renyi(event, order)
    assert found.divergence == pytest.approx(exact / (order - 1) - math.log(0.99), rel=1e-10)
    assert found.delta == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("event", "epsilon"),
    [
        (Repeated(PureLoss(0.25), 4), 1.0),
        (Repeated(LaplaceLoss(3.0), 3), 1.0),
        (Repeated(LaplaceLoss(10.0), 100), 10.0),
        (GaussianLoss(1.0), math.inf),
        (ConcentratedLoss(0.0), 0.0),
        (Sampled(PureLoss(2.0), 0.1), math.log(1 + 0.1 * (math.e**2 - 1))),
    ],
)
def test_order_infinity_is_pure_epsilon_without_any_slack(event: Event, epsilon: float) -> None:
    assert renyi(event, math.inf).divergence == pytest.approx(epsilon, rel=1e-15)


@given(st.floats(1.05, 200.0), st.floats(0.001, 5.0), st.floats(1e-12, 0.1))
def test_conversions_there_and_back_agree(order: float, divergence: float, delta: float) -> None:
    epsilon = epsilon_from_renyi(order, divergence, delta)
    if epsilon > 0:
        assert delta_from_renyi(order, divergence, epsilon) == pytest.approx(delta, rel=1e-8)


@settings(max_examples=30)
@given(st.floats(0.3, 5.0), st.floats(1e-10, 1e-2))
def test_the_conversion_bounds_the_gaussian_it_comes_from(multiplier: float, delta: float) -> None:
    from discreet.accounting.closed_forms import gaussian_epsilon

    orders = [1.1, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 40.0]
    bound = epsilon_from_renyi(orders, [order / multiplier**2 / 2 for order in orders], delta)
    assert bound >= gaussian_epsilon(multiplier, delta)


def test_an_order_of_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="above 1"):
        renyi(PureLoss(1.0), 1.0)


def test_between_two_orders_the_nearer_one_counts_for_more() -> None:
    """(order - 1) times the divergence is convex: three quarters of the way from order 2 to order 4."""
    assert renyi(RenyiLoss((2.0, 4.0), (0.1, 0.9)), 3.5).divergence == pytest.approx(
        (0.75 * 3 * 0.9 + 0.25 * 0.1) / 2.5
    )


def test_what_is_lost_for_certain_is_a_delta_and_the_rest_is_scaled_up() -> None:
    table = LossTable(0, (0.2, 0.7), infinity=0.1)
    found = renyi(DiscreteLoss(0.5, table, table), math.inf)
    assert found.delta == pytest.approx(0.1)
    assert found.divergence == pytest.approx(0.5 - math.log(0.9))
