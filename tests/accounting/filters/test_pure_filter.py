from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.accounting.accountant import delta as delta_of
from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount
from discreet.accounting.filters.pure_filter import PureFilter, delta_beside, pure_price
from discreet.core.events import ApproximateLoss, Composed, GaussianLoss, LaplaceLoss, PureLoss, Repeated
from tests.accounting.games import hockey_stick, response


def test_the_price_is_the_exact_sum_of_epsilons_and_deltas() -> None:
    assert pure_price(Composed((PureLoss(0.5), GaussianLoss(1.0)))) is None
    half = Amount(LOSS_UNITS * 3 // 4, 2**127)
    assert pure_price(Composed((PureLoss(0.5), ApproximateLoss(0.25, 0.5)))) == half
    assert pure_price(Repeated(ApproximateLoss(0.25, 2.0**-10), 4)) == Amount(LOSS_UNITS, 2**120)
    assert pure_price(Repeated(LaplaceLoss(8.0), 4)) == Amount(LOSS_UNITS // 2, 0)


def test_without_delta_the_cap_is_epsilon_to_the_last_unit() -> None:
    rule = PureFilter.of(1.0, Fraction(0), Fraction(0))
    assert rule.price(PureLoss(1.0), NOTHING) == rule.cap == Amount(LOSS_UNITS, 0)
    assert rule.price(Composed((Repeated(LaplaceLoss(8.0), 4), PureLoss(0.5))), NOTHING) == rule.cap
    above = rule.price(PureLoss(math.nextafter(1.0, 2.0)), NOTHING)
    assert above is not None
    assert not above.within(rule.cap)


def test_a_share_of_delta_lets_the_cap_exceed_epsilon_by_no_more_than_it_pays_for() -> None:
    share = Fraction(1, 10**7)
    rule = PureFilter.of(1.0, share, Fraction(0))
    excess = Fraction(rule.cap.loss, LOSS_UNITS) - 1
    assert 0 < excess <= Fraction(rule.share, DELTA_UNITS) <= share
    worst = (math.exp(1.0 + float(excess)) - math.e) / (1 + math.exp(1.0 + float(excess)))  # of randomized response
    assert worst <= float(share)


def test_beside_a_first_plan_the_share_is_the_delta_of_it_and_the_worst_that_can_follow() -> None:
    first = ApproximateLoss(0.5, 0.03)
    for epsilon, room in ((1.0, 0.4), (1.0, 0.5), (1.0, 0.8)):
        together = [(a * c, b * d) for a, b in response(0.5, 0.03) for c, d in response(room)]
        assert delta_beside(first, epsilon, room) == pytest.approx(hockey_stick(together, epsilon), rel=1e-6)
        rule = PureFilter.beside(first, epsilon, Fraction(room), Fraction(0))
        assert rule.sound
        assert Fraction(room) < Fraction(rule.cap.loss, LOSS_UNITS) < Fraction(room) + Fraction(1, 1000)
        assert 1 < rule.share / DELTA_UNITS / hockey_stick(together, epsilon) < 1.01
        assert rule.opening(first) == NOTHING
        assert not PureFilter(epsilon, rule.share, first, rule.cap + Amount(LOSS_UNITS // 2, 0)).sound


def test_a_share_given_beside_a_first_plan_leaves_a_sound_cap() -> None:
    first = GaussianLoss(8.0)
    rule = PureFilter.of(2.0, Fraction(1e-6), Fraction(0), first)
    assert rule.sound
    assert rule.cap.floats[0] > 1.4
    assert rule.certified(NOTHING) == pytest.approx(2.0 - rule.cap.floats[0])
    assert rule.certified(rule.cap) == pytest.approx(2.0)
    assert rule.used(rule.cap) == 1.0


def test_unbounded_losses_have_slacks_that_add_up_to_half_of_what_is_spare() -> None:
    rule, event = PureFilter.of(2.0, Fraction(1e-6), Fraction(0)), GaussianLoss(20.0)
    spent, slacks = NOTHING, 0.0
    while (price := rule.price(event, spent)) and (spent + price).within(rule.cap):
        spent += price
        slacks += delta_of(event, price.floats[0])
    assert 3e-7 < slacks <= 5e-7
    assert PureFilter.of(2.0, Fraction(0), Fraction(0)).price(event, NOTHING) is None


def test_a_cap_that_was_raised_is_not_sound() -> None:
    rule = PureFilter.of(1.0, Fraction(1e-7), Fraction(0))
    assert rule.sound
    assert not PureFilter(rule.epsilon, rule.share, None, Amount(rule.cap.loss + 1, 0)).sound
