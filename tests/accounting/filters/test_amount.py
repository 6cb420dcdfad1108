from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS, NOTHING, Amount, slack_for_all
from discreet.core.errors import Unaccountable
from discreet.core.events import ApproximateLoss, Composed, Event, GaussianLoss, PureLoss

losses = st.floats(min_value=0, max_value=1e6, allow_nan=False)
deltas = st.floats(min_value=0, max_value=1, allow_nan=False)


@given(losses, deltas)
def test_amounts_are_rounded_by_less_than_one_unit(loss: float, delta: float) -> None:
    up, down = Amount.rounded_up(loss, delta), Amount.rounded_down(loss, delta)
    assert down.loss <= Fraction(loss) * LOSS_UNITS <= up.loss <= down.loss + 1
    assert down.delta <= Fraction(delta) * DELTA_UNITS <= up.delta <= down.delta + 1
    assert down.within(up)


@given(st.lists(losses, max_size=20))
def test_a_sum_of_amounts_is_never_below_the_sum_of_the_losses(values: list[float]) -> None:
    total = sum((Amount.rounded_up(value, 0.0) for value in values), NOTHING)
    assert Fraction(total.loss, LOSS_UNITS) >= sum(map(Fraction, values))


def test_equal_shares_add_up_to_the_whole() -> None:
    for count in [*range(1, 31), 40, 50, 64, 100, 1000, 4096]:
        assert count * Amount.rounded_up(Fraction(1, count), 0.0).loss == LOSS_UNITS


def test_a_delta_of_1e_12_is_charged_to_full_precision() -> None:
    assert Amount.rounded_up(0.0, 1e-12).delta / 2**128 == pytest.approx(1e-12, rel=1e-15)
    assert Amount.rounded_up(0.0, 1e-30).delta / 2**128 == pytest.approx(1e-30, rel=1e-8)
    assert Amount.rounded_up(0.0, 5e-324).delta == 1


def test_both_parts_must_be_within_the_cap() -> None:
    cap = Amount(5, 5)
    assert Amount(5, 5).within(cap)
    assert not Amount(6, 5).within(cap)
    assert not Amount(5, 6).within(cap)


def test_what_is_no_number_of_units_is_refused() -> None:
    for value in (math.inf, math.nan, -1.0):
        with pytest.raises(Unaccountable, match="cannot be charged"):
            Amount.rounded_up(value, 0.0)


def test_loss_failure_and_slack_are_added_and_held_to_the_cap_each() -> None:
    assert Amount(1, 2, 3) + Amount(10, 20, 30) == Amount(11, 22, 33)
    cap = Amount(2, 2, 2)
    assert cap.within(cap)
    assert not any(amount.within(cap) for amount in (Amount(3, 0, 0), Amount(0, 3, 0), Amount(0, 0, 3)))


def test_what_loses_or_fails_costs_a_unit_of_it_at_least() -> None:
    tiny: list[Event] = [PureLoss(1e-300), Composed((PureLoss(0.0), GaussianLoss(1e300)))]
    for event in tiny:
        assert NOTHING.not_free(event) == Amount(1, 0)
        assert Amount(5, 0, 7).not_free(event) == Amount(5, 0, 7)
    assert NOTHING.not_free(ApproximateLoss(0.0, 1e-300)) == Amount(0, 1)
    assert NOTHING.not_free(Composed((PureLoss(0.0),))) == NOTHING


def test_slacks_are_spent_in_proportion_and_after_a_raise_by_what_is_left_of_them() -> None:
    cap = Amount(1000, 0, 1000)
    whole = slack_for_all(cap, NOTHING)
    assert whole == pytest.approx(1000 / DELTA_UNITS)
    assert slack_for_all(cap, Amount(500, 0, 500)) == slack_for_all(cap, Amount(500, 0, 0)) == whole
    assert 0.98 * whole / 2 < slack_for_all(cap, Amount(0, 0, 500)) < whole / 2
    assert slack_for_all(cap, Amount(0, 0, 1000)) == 0.0
    raised = slack_for_all(Amount(2000, 0, 1000), Amount(1000, 0, 1000))
    assert raised == 0.0
    for spent in (Amount(10, 0, 300), Amount(900, 0, 950), Amount(999, 0, 1000)):
        assert slack_for_all(cap, spent) * (cap.loss - spent.loss) / cap.loss * DELTA_UNITS <= cap.slack - spent.slack
