"""What a plan costs in two numbers: what the accountant finds, at delta 0 where that is hardly more."""

from __future__ import annotations

import math

import pytest

from discreet.accounting.accountant import epsilon, pure_epsilon
from discreet.accounting.price import price
from discreet.core.budget import Budget
from discreet.core.events import ApproximateLoss, Composed, GaussianLoss, LaplaceLoss, NoPromise, PureLoss, Repeated


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
