from __future__ import annotations

import math
from fractions import Fraction

from discreet.accounting.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount
from discreet.accounting.pure_filter import PureFilter, pure_price
from discreet.core.events import ApproximateLoss, Composed, GaussianLoss, LaplaceLoss, PureLoss, Repeated


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


def test_a_cap_that_was_raised_is_not_sound() -> None:
    rule = PureFilter.of(1.0, Fraction(1e-7), Fraction(0))
    assert rule.sound
    assert not PureFilter(rule.epsilon, rule.share, Amount(rule.cap.loss + 1, 0)).sound
