from __future__ import annotations

import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.accountant import (
    Bracket,
    delta,
    delta_interval,
    epsilon,
    epsilon_interval,
    price,
    pure_epsilon,
)
from discreet.accounting.closed_forms import gaussian_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    LossTable,
    NoPromise,
    Parallel,
    PureLoss,
    RenyiLoss,
    Repeated,
    Sampled,
)


@pytest.mark.parametrize(
    ("event", "at", "reference"),
    [
        (Repeated(Sampled(GaussianLoss(1.1), 256 / 60000), 14000), 1e-5, 2.37583762678),
        (Repeated(Sampled(GaussianLoss(0.8), 0.001), 100_000), 1e-6, 2.91447833638),
        (Repeated(GaussianLoss(20.0), 1000), 1e-6, 8.30622504995473),
        (Repeated(PureLoss(0.1), 100), 1e-6, 4.774567),
        (Repeated(LaplaceLoss(10.0), 100), 1e-6, 4.692665),
    ],
)
def test_reference_figures_are_met_within_half_a_thousandth_and_never_undercut(
    event: Event, at: float, reference: float
) -> None:
    assert reference <= epsilon(event, at) <= reference * 1.0005


EVENTS: dict[str, tuple[Event, float]] = {
    "gaussian": (Repeated(GaussianLoss(3.0), 5), 1e-6),
    "laplace": (Repeated(LaplaceLoss(3.0), 7), 1e-6),
    "sampled gaussian": (Repeated(Sampled(GaussianLoss(1.0), 0.02), 300), 1e-6),
    "sampled laplace": (Repeated(Sampled(LaplaceLoss(1.0), 0.02), 300), 1e-6),
    "fixed size": (Repeated(Sampled(GaussianLoss(1.0), 0.02, "fixed_size"), 300), 1e-6),
    "approximate": (Repeated(ApproximateLoss(0.1, 1e-9), 20), 1e-6),
    "mixed": (Composed((LaplaceLoss(1.0), PureLoss(0.5), GaussianLoss(2.0), ApproximateLoss(0.3, 1e-7))), 1e-6),
    "concentrated": (Composed((ConcentratedLoss(0.1), LaplaceLoss(5.0))), 1e-6),
    "renyi": (RenyiLoss((2.0, 8.0, 32.0), (0.1, 0.4, 1.6)), 1e-6),
    "parallel": (Composed((Parallel((Repeated(LaplaceLoss(2.0), 4), GaussianLoss(1.0))), PureLoss(0.1))), 1e-6),
    "repeated parallel": (Repeated(Parallel((LaplaceLoss(2.0), GaussianLoss(2.0))), 5), 1e-6),
}


@pytest.mark.parametrize("name", EVENTS)
def test_delta_at_epsilon_gives_back_delta(name: str) -> None:
    event, at = EVENTS[name]
    found = epsilon(event, at)
    assert 0 < found < math.inf
    assert delta(event, found) == pytest.approx(at, rel=2e-3)


@pytest.mark.parametrize("name", EVENTS)
def test_intervals_hold_the_bounds_and_are_not_empty(name: str) -> None:
    event, at = EVENTS[name]
    found = epsilon_interval(event, at)
    assert found.upper == epsilon(event, at)
    assert 0 <= found.lower <= found.upper
    other = delta_interval(event, found.upper)
    assert other.lower <= at * (1 + 1e-9)
    assert other.lower <= other.upper


@pytest.mark.parametrize("name", ["gaussian", "laplace", "sampled gaussian", "sampled laplace", "approximate", "mixed"])
def test_intervals_are_tight_where_releases_reach_the_promise(name: str) -> None:
    event, at = EVENTS[name]
    found = epsilon_interval(event, at)
    assert found.upper - found.lower < 2e-3 * found.upper


@pytest.mark.parametrize("name", EVENTS)
def test_epsilon_falls_as_delta_grows(name: str) -> None:
    event, _ = EVENTS[name]
    found = [epsilon(event, at) for at in (1e-7, 1e-5, 1e-3, 1e-1, 0.9)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == 0 or name == "renyi"


@settings(max_examples=6)
@given(st.floats(0.6, 5.0), st.floats(1e-3, 0.5), st.integers(1, 400), st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_the_interval_meets_dp_accounting_s_bounds(multiplier: float, rate: float, times: int, at: float) -> None:
    """Theirs is a bound above from a grid of 1e-3; the truth is below it, and above ours from below."""
    sampled = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    theirs = accountant.compose(dp_accounting.SelfComposedDpEvent(sampled, times)).get_epsilon(at)
    ours = epsilon_interval(Repeated(Sampled(GaussianLoss(multiplier), rate), times), at)
    assert ours.lower <= theirs * (1 + 1e-6) + 1e-7
    assert ours.upper <= theirs * (1 + 3e-5) + 1e-6


@given(st.floats(0.05, 50.0), st.integers(1, 2000), st.floats(1e-30, 0.4))
def test_gaussians_have_their_closed_form(multiplier: float, times: int, at: float) -> None:
    found = epsilon(Repeated(GaussianLoss(multiplier), times), at)
    assert found == pytest.approx(gaussian_epsilon(multiplier / math.sqrt(times), at), rel=1e-9, abs=1e-12)


def test_pure_losses_add_up_exactly_and_count_where_they_are_less() -> None:
    assert epsilon(Repeated(PureLoss(0.25), 4), 0.0) == 1.0
    assert epsilon(Repeated(PureLoss(0.25), 4), 1e-12) <= 1.0
    assert pure_epsilon(Composed((LaplaceLoss(4.0), PureLoss(0.75)))) == 1.0
    assert delta(Repeated(PureLoss(0.25), 4), 1.0) == 0.0
    assert pure_epsilon(ApproximateLoss(1.0, 1e-9)) == math.inf
    assert epsilon(GaussianLoss(1.0), 0.0) == math.inf


def test_nothing_costs_nothing() -> None:
    assert epsilon(Composed(()), 1e-6) == 0.0
    assert delta(Composed(()), 0.0) == 0.0
    assert epsilon_interval(PureLoss(0.0), 1e-6) == Bracket(0.0, 0.0)


def test_epsilons_in_the_hundreds_and_deltas_near_nothing_work() -> None:
    event = Repeated(Sampled(GaussianLoss(0.3), 0.5), 50)
    found = epsilon_interval(event, 1e-30)
    assert 400 < found.lower <= found.upper < found.lower * 1.001
    assert delta(event, 300.0) < 1e-9


def test_sampling_never_costs_more() -> None:
    for leaf in (GaussianLoss(1.0), LaplaceLoss(1.0), PureLoss(1.0), ApproximateLoss(1.0, 1e-7), ConcentratedLoss(0.5)):
        whole = epsilon(Repeated(leaf, 3), 1e-5)
        for scheme in ("poisson", "fixed_size"):
            assert epsilon(Repeated(Sampled(leaf, 0.1, scheme), 3), 1e-5) < whole


def test_a_fixed_size_sample_of_one_release_has_the_amplified_curve() -> None:
    """For one release the theorem is q * delta at ln(1 + q (e^eps - 1)), exactly."""
    for epsilon_alone in (0.5, 2.0):
        amplified = math.log1p(0.1 * math.expm1(epsilon_alone))
        exact = 0.1 * delta(GaussianLoss(1.0), epsilon_alone)
        assert delta(Sampled(GaussianLoss(1.0), 0.1, "fixed_size"), amplified) == pytest.approx(exact, rel=1e-3)


def test_of_parallel_parts_the_dearer_one_counts_at_each_delta() -> None:
    parts = (Repeated(LaplaceLoss(2.0), 4), GaussianLoss(2.0))
    for at in (1e-2, 1e-6, 1e-12):
        assert epsilon(Parallel(parts), at) == pytest.approx(max(epsilon(part, at) for part in parts), rel=1e-12)


def test_a_concentrated_loss_costs_between_gaussian_noise_and_the_textbook_formula() -> None:
    rho, at = 0.3, 1e-6
    found = epsilon_interval(ConcentratedLoss(rho), at)
    assert found.lower == pytest.approx(epsilon(GaussianLoss(1 / math.sqrt(2 * rho)), at), rel=1e-4)
    assert found.upper <= rho + 2 * math.sqrt(rho * math.log(1 / at))


def test_a_tabulated_gaussian_costs_what_the_gaussian_does() -> None:
    step, mean = 0.005, 0.5 / 4
    losses = step * np.arange(-600, 800)
    masses = np.exp(-((losses - mean) ** 2) / (2 * 0.25))
    masses /= masses.sum() * (1 + 1e-15)
    masses[-1] += 1 - math.fsum(masses)
    table = LossTable(-600, tuple(masses))
    event = Repeated(DiscreteLoss(step, table, table), 3)
    assert epsilon(event, 1e-6) == pytest.approx(epsilon(Repeated(GaussianLoss(2.0), 3), 1e-6), rel=1e-3)


@pytest.mark.parametrize("at", [-0.1, 1.0, math.nan])
def test_a_delta_outside_of_zero_and_one_is_refused(at: float) -> None:
    with pytest.raises(ParameterError, match="delta"):
        epsilon(PureLoss(1.0), at)


def test_a_release_without_a_promise_has_no_price() -> None:
    with pytest.raises(Unaccountable, match="swapping"):
        epsilon(Composed((PureLoss(1.0), NoPromise("swapping"))), 1e-6)


def test_an_approximate_promise_alone_costs_what_it_says() -> None:
    event = ApproximateLoss(0.7, 1e-6)
    assert epsilon(event, 1e-6) == 0.7
    assert epsilon(event, 0.9e-6) == math.inf
    assert delta(event, 0.7) == 1e-6
    assert 0.6 < epsilon(event, 1e-2) < 0.7
    assert epsilon_interval(event, 1e-6) == Bracket(0.7, 0.7)


def test_it_is_what_the_accountant_finds_at_that_delta() -> None:
    many = Repeated(LaplaceLoss(20.0), 50)
    for event in (GaussianLoss(3.0), Composed((GaussianLoss(3.0), LaplaceLoss(2.0))), many):
        found = price(event, Budget(5.0, 1e-6))
        assert (found.epsilon, found.delta) == (epsilon(event, 1e-6), 1e-6)
    assert pure_epsilon(many) > 1.01 * price(many, Budget(5.0, 1e-6)).epsilon


def test_a_pure_plan_has_delta_zero() -> None:
    for account in (Budget(1.0), Budget(1.0, 1e-6)):
        found = price(Composed((PureLoss(0.25), LaplaceLoss(2.0))), account)
        assert found.epsilon == pytest.approx(0.75)
        assert found.delta == 0.0


def test_it_is_never_beyond_what_the_account_allows_for_the_sake_of_delta_zero() -> None:
    plan = Repeated(LaplaceLoss(2.0), 2)
    allowed = epsilon(plan, 1e-3)
    assert allowed < pure_epsilon(plan)
    found = price(plan, Budget(allowed, 1e-3))
    assert (found.epsilon, found.delta) == (allowed, 1e-3)


def test_what_has_no_price_in_an_account_without_delta_is_infinite() -> None:
    for event in (GaussianLoss(1.0), ApproximateLoss(0.5, 1e-9), NoPromise("swapping")):
        assert math.isinf(price(event, Budget(1.0)).epsilon)
