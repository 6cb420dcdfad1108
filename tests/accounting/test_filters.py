from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from discreet.accounting.filters import NOTHING, Amount, Filter, best_order, privacy_filter, pure_price
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    PureLoss,
    Repeated,
)

losses = st.floats(min_value=0, max_value=1e6, allow_nan=False)
deltas = st.floats(min_value=0, max_value=1, allow_nan=False)


@given(losses, deltas)
def test_amounts_are_rounded_up_by_less_than_one_unit(loss: float, delta: float) -> None:
    amount = Amount.rounded_up(loss, delta)
    assert Fraction(loss) <= Fraction(amount.divergence, 2**40) < Fraction(loss) + Fraction(1, 2**40)
    assert Fraction(delta) <= Fraction(amount.delta, 2**128) < Fraction(delta) + Fraction(1, 2**128)


@given(st.lists(losses, max_size=20))
def test_a_sum_of_amounts_is_never_below_the_sum_of_the_losses(values: list[float]) -> None:
    total = sum((Amount.rounded_up(value, 0.0) for value in values), NOTHING)
    assert Fraction(total.divergence, 2**40) >= sum(map(Fraction, values))


def test_a_delta_of_1e_12_is_charged_to_full_precision() -> None:
    assert Amount.rounded_up(0.0, 1e-12).delta / 2**128 == pytest.approx(1e-12, rel=1e-15)
    assert Amount.rounded_up(0.0, 1e-30).delta / 2**128 == pytest.approx(1e-30, rel=1e-8)
    assert Amount.rounded_up(0.0, 5e-324).delta == 1


def exact_conversion(order: float, delta: float) -> Decimal:
    """The conversion written as in Canonne, Kamath and Steinke 2020, at 100 digits."""
    with localcontext(prec=100):
        a, d = Decimal(order), Decimal(delta)
        return ((1 / d).ln() + (a - 1) * ((a - 1) / a).ln() - a.ln()) / (a - 1)


@given(st.floats(0.05, 50.0), st.floats(1e-14, 1e-2), st.one_of(st.none(), st.floats(1.5, 500.0)), st.floats(0.1, 1.0))
def test_the_cap_and_its_conversion_never_exceed_the_budget(
    epsilon: float, delta: float, order: float | None, share: float
) -> None:
    try:
        rule = privacy_filter(Budget(epsilon, delta), order=order, share=share)
    except ParameterError:
        assert order is not None
        assert exact_conversion(order, delta * share) > Decimal(epsilon) - Decimal(2) ** -39
        return
    with localcontext(prec=100):
        total = Decimal(rule.cap.divergence) / 2**40 + exact_conversion(rule.order, delta * share)
    assert Decimal(epsilon) - Decimal(2) ** -39 < total <= Decimal(epsilon)
    assert Fraction(rule.cap.delta, 2**128) + Fraction(delta * share) <= Fraction(delta)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-30])
def test_the_default_order_leaves_the_most_room_for_gaussian_noise(epsilon: float, delta: float) -> None:
    orders = 1 + np.geomspace(1e-3, 1e7, 20001)
    conversions = np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)
    rhos = (epsilon - conversions) / orders
    chosen = best_order(epsilon, delta)
    conversion = math.log1p(-1 / chosen) - math.log(delta * chosen) / (chosen - 1)
    assert (epsilon - conversion) / chosen >= rhos.max() * (1 - 1e-4)


def gaussian_delta(multiplier: float, epsilon: float) -> float:
    """Balle and Wang 2018, Theorem 8."""
    a, b = 0.5 / multiplier, epsilon * multiplier
    return float(norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b))


@pytest.mark.parametrize("budget", [Budget(0.5, 1e-5), Budget(1.0, 1e-6), Budget(4.0, 1e-9)])
def test_gaussian_charges_up_to_the_cap_stay_within_the_budget_and_come_near_it(budget: Budget) -> None:
    rule = privacy_filter(budget)
    spent, price, count = NOTHING, rule.price(GaussianLoss(40.0)), 0
    while rule.admits(spent, price):
        spent, count = spent + price, count + 1
    exact = gaussian_delta(40.0 / math.sqrt(count), budget.epsilon)
    assert exact <= budget.delta / 2
    best = brentq(lambda m: gaussian_delta(m, budget.epsilon) - budget.delta, 0.1, 100)
    assert 40.0 / math.sqrt(count) < 1.25 * best  # at most a quarter more noise than the exact accountant's


def test_epsilon_goes_from_zero_to_the_whole_budget() -> None:
    rule = privacy_filter(Budget(1.0, 1e-6))
    assert rule.epsilon(NOTHING) == 0.0
    assert rule.epsilon(Amount(rule.cap.divergence, 0)) == 1.0
    assert 0 < rule.epsilon(Amount(1, 0)) < 1
    assert rule.used(rule.cap) == 1.0


def test_a_pure_budget_is_spent_to_the_last_unit() -> None:
    rule = privacy_filter(Budget(1.0))
    assert rule.order == math.inf
    assert rule.price(PureLoss(1.0)) == rule.cap
    assert rule.price(Composed((Repeated(LaplaceLoss(8.0), 4), PureLoss(0.5)))) == rule.cap
    assert not rule.admits(rule.price(PureLoss(1.0)), rule.price(PureLoss(1e-300)))


def test_a_pure_budget_refuses_unbounded_loss_and_delta() -> None:
    rule = privacy_filter(Budget(1.0))
    with pytest.raises(Unaccountable, match="infinite"):
        rule.price(GaussianLoss(100.0))
    assert not rule.admits(NOTHING, rule.price(ApproximateLoss(0.1, 1e-9)))


def test_deltas_of_approximate_events_add_up_in_their_own_account() -> None:
    rule = privacy_filter(Budget(5.0, 1e-6))
    price = rule.price(ApproximateLoss(0.01, 2e-7))
    spent = price + price
    assert rule.admits(NOTHING, spent)
    assert not rule.admits(spent, price)
    assert rule.admits(spent, rule.price(PureLoss(0.01)))


def test_by_pure_all_of_delta_is_for_approximate_events() -> None:
    rule = privacy_filter(Budget(1.0, 1e-6), "pure")
    assert rule.order == math.inf
    assert rule.admits(NOTHING, rule.price(ApproximateLoss(1.0, 1e-6)))


def test_the_exact_price_knows_only_epsilons_and_deltas() -> None:
    assert pure_price(Composed((PureLoss(0.5), GaussianLoss(1.0)))) is None
    assert pure_price(Composed((PureLoss(0.5), ApproximateLoss(0.25, 0.5)))) == Amount(3 * 2**38, 2**127)
    assert pure_price(Repeated(ApproximateLoss(0.25, 2.0**-10), 4)) == Amount(2**40, 2**120)
    assert pure_price(Repeated(LaplaceLoss(8.0), 4)) == Amount(2**39, 0)


def test_the_owner_may_choose_the_order() -> None:
    assert privacy_filter(Budget(2.0, 1e-6), order=12.0).price(ConcentratedLoss(0.01)).divergence >= 12 * 2**40 / 100


@pytest.mark.parametrize("order", [1.0, 0.5, -2.0, math.nan])
def test_orders_up_to_one_are_refused(order: float) -> None:
    with pytest.raises(ParameterError, match="order"):
        privacy_filter(Budget(1.0, 1e-6), order=order)


def test_a_finite_order_needs_a_delta_and_room() -> None:
    with pytest.raises(ParameterError, match="needs a delta"):
        privacy_filter(Budget(1.0), order=8.0)
    with pytest.raises(ParameterError, match="conversion alone"):
        privacy_filter(Budget(1.0, 1e-6), order=2.0)


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, math.nan])
def test_shares_outside_the_unit_interval_are_refused(share: float) -> None:
    with pytest.raises(ParameterError, match="share"):
        privacy_filter(Budget(1.0, 1e-6), share=share)


@pytest.mark.parametrize("by", ["loss distribution", "advanced", "optimal"])
def test_running_totals_that_need_a_fixed_list_are_refused(by: str) -> None:
    with pytest.raises(Unaccountable, match="chosen after seeing answers"):
        privacy_filter(Budget(1.0, 1e-6), by)


def test_an_unknown_filter_is_refused() -> None:
    with pytest.raises(ParameterError, match="there is none"):
        privacy_filter(Budget(1.0), "guesswork")


Law = list[tuple[float, float]]
"""The probabilities of each output for one data set and for its neighbor."""
Path = tuple[int, ...]
Choice = Callable[[Path], Law | None]


def response(epsilon: float, leak: float = 0.0) -> Law:
    """Randomized response that with probability `leak` tells the truth: the worst (epsilon, leak) there is."""
    p = 1 / (1 + math.exp(-epsilon))
    return [(leak, 0.0), ((1 - leak) * p, (1 - leak) * (1 - p)), ((1 - leak) * (1 - p), (1 - leak) * p), (0.0, leak)]


def hockey_stick(law: Law, epsilon: float) -> float:
    return max(
        math.fsum(max(p - math.exp(epsilon) * q, 0.0) for p, q in law),
        math.fsum(max(q - math.exp(epsilon) * p, 0.0) for p, q in law),
    )


def adaptively(choose: Choice, path: Path = (), p: float = 1.0, q: float = 1.0) -> Law:
    """The law of the whole transcript when every next question depends on the answers so far."""
    law = choose(path)
    if law is None or p == q == 0:
        return [(p, q)]
    return [leaf for i, (a, b) in enumerate(law) for leaf in adaptively(choose, (*path, i), p * a, q * b)]


def test_a_running_loss_distribution_would_overspend() -> None:
    """The reason for the refusal: each path alone keeps the budget, and together they do not."""
    epsilon, delta, first = 1.0, 0.05, 0.5

    def together(second: Law) -> float:
        return hockey_stick([(a * c, b * d) for a, b in response(first) for c, d in second], epsilon)

    dear = brentq(lambda e: together(response(e)) - delta, 0.5, 1.4)
    leaky = response(0.0, delta)
    assert together(response(dear)) == pytest.approx(delta)
    assert together(leaky) == pytest.approx(delta)

    def adversary(path: Path) -> Law | None:
        match path:
            case ():
                return response(first)
            case (1,):
                return response(dear)
            case (_,):
                return leaky
            case _:
                return None

    assert hockey_stick(adaptively(adversary), epsilon) > 1.3 * delta


class Adversary:
    """Asks at random, with whatever the filter still admits on the path it is on."""

    def __init__(self, rule: Filter, seed: int) -> None:
        self.rule, self.seed = rule, seed
        self.spent: dict[Path, Amount] = {(): NOTHING}

    def __call__(self, path: Path) -> Law | None:
        spent = self.spent[path]
        rng = np.random.default_rng([self.seed, len(path), *path])
        for _ in range(8 if len(path) < 4 else 0):
            loss = float(rng.choice([0.1, 0.3, 0.7, 1.2, 2.0]) * self.rule.budget.epsilon / 2)
            leak = float(rng.choice([0.0, 0.0, 0.1, 0.3])) * self.rule.budget.delta
            event: Event = ApproximateLoss(loss, leak) if leak else PureLoss(loss)
            price = self.rule.price(event)
            if self.rule.admits(spent, price):
                law = response(loss, leak)
                self.spent |= {(*path, i): spent + price for i in range(len(law))}
                return law
        return None


def worst_delta(rule: Filter) -> float:
    laws = [adaptively(Adversary(rule, seed)) for seed in range(25)]
    assert all(math.fsum(p for p, _ in law) == pytest.approx(1) for law in laws)
    return max(hockey_stick(law, rule.budget.epsilon) for law in laws)


@pytest.mark.parametrize(
    ("budget", "order"),
    [
        (Budget(1.0, 0.05), None),
        (Budget(1.0, 0.05), 3.0),
        (Budget(1.0, 0.05), 10.0),
        (Budget(1.0, 0.05), math.inf),
        (Budget(3.0, 0.2), None),
        (Budget(3.0, 0.2), 10.0),
        (Budget(0.7, 0.01), None),
        (Budget(0.7, 0.01), math.inf),
        (Budget(2.0), None),
    ],
)
def test_no_adaptive_adversary_exceeds_the_budget(budget: Budget, order: float | None) -> None:
    assert worst_delta(privacy_filter(budget, order=order)) <= budget.delta + 1e-12


def test_the_same_adversaries_exceed_the_budget_under_a_cap_twice_as_large() -> None:
    rule = privacy_filter(Budget(1.0, 0.05))
    lax = Filter(rule.budget, rule.order, rule.cap + rule.cap)
    assert worst_delta(lax) > rule.budget.delta
