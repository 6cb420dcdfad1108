from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount
from discreet.accounting.filters.renyi_filter import RenyiFilter, best_order, order_for
from discreet.core.events import ConcentratedLoss, GaussianLoss, PureLoss, RenyiLoss, Sampled


def exact_conversion(order: float, delta: Fraction) -> Decimal:
    """The conversion written as in Canonne, Kamath and Steinke 2020, at 100 digits."""
    with localcontext(prec=100):
        a, d = Decimal(order), Decimal(delta.numerator) / Decimal(delta.denominator)
        return ((1 / d).ln() + (a - 1) * ((a - 1) / a).ln() - a.ln()) / (a - 1)


@given(st.floats(0.05, 50.0), st.floats(1e-14, 1e-2), st.one_of(st.none(), st.floats(1.5, 500.0)))
def test_the_cap_and_its_conversion_never_exceed_epsilon(epsilon: float, delta: float, order: float | None) -> None:
    rule = RenyiFilter.of(epsilon, Fraction(delta), Fraction(0), order or best_order(epsilon, delta))
    share = Fraction(rule.share, DELTA_UNITS)
    assert share <= Fraction(delta)
    with localcontext(prec=100):
        total = Decimal(rule.cap.loss) / LOSS_UNITS + exact_conversion(rule.order, share)
    assert rule.cap.loss == 0 or Decimal(epsilon) - Decimal(2) ** -80 < total <= Decimal(epsilon)
    assert rule.sound
    assert not RenyiFilter(epsilon, rule.share, rule.order, Amount(rule.cap.loss + 1, 0)).sound


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-30])
def test_the_best_order_leaves_the_most_room_for_gaussian_noise(epsilon: float, delta: float) -> None:
    orders = 1 + np.geomspace(1e-3, 1e7, 20001)
    conversions = np.log1p(-1 / orders) - np.log(delta * orders) / (orders - 1)
    rhos = (epsilon - conversions) / orders
    chosen = best_order(epsilon, delta)
    conversion = math.log1p(-1 / chosen) - math.log(delta * chosen) / (chosen - 1)
    assert (epsilon - conversion) / chosen >= rhos.max() * (1 - 1e-4)
    assert order_for(GaussianLoss(3.0), epsilon, delta) == chosen


def test_samples_are_charged_most_often_at_a_smaller_order() -> None:
    event = Sampled(GaussianLoss(1.0), 0.01)
    small, large = order_for(event, 3.0, 1e-6), best_order(3.0, 1e-6)
    assert small < large
    times = []
    for order in (small, large):
        rule = RenyiFilter.of(3.0, Fraction(1e-6), Fraction(0), order)
        price = rule.price(event, NOTHING)
        assert price is not None
        times.append(rule.cap.loss // price.loss)
    assert times[0] > 1.3 * times[1]


def test_prices_are_divergences_and_what_has_none_has_no_price() -> None:
    rule = RenyiFilter.of(2.0, Fraction(1e-6), Fraction(0), 12.0)
    price = rule.price(ConcentratedLoss(0.01), NOTHING)
    assert price is not None
    assert price.loss >= 12 * LOSS_UNITS // 100
    assert rule.price(RenyiLoss((2.0,), (0.1,)), NOTHING) is None
    assert rule.price(PureLoss(0.0), NOTHING) == NOTHING
