"""What a refusal says: what is short, and what would fit, which then does."""

from __future__ import annotations

import pytest

from discreet.accounting.accountant import price
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    Parallel,
    PureLoss,
    Repeated,
    Sampled,
)
from discreet.ledger.account_state import AccountState
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.refusal import fitting, with_less


def refused(budget: Budget, before: list[Event], event: Event) -> BudgetExceeded:
    ledger = MemoryLedger(budget)
    for number, charge in enumerate(before):
        ledger.reserve(charge, "before", request=str(number))
    with pytest.raises(BudgetExceeded) as caught:
        ledger.reserve(event, "a mean", request="last")
    return caught.value


def test_a_refusal_names_epsilon_and_the_largest_one_that_fits() -> None:
    no = refused(Budget(1.0, 1e-6), [PureLoss(0.75)], LaplaceLoss(2.0))
    assert (no.short, no.fits) == ("epsilon", pytest.approx(0.25, rel=1e-6))  # type: ignore[attr-defined]
    assert "0.25 of 1 left at delta 1e-06, and epsilon is short" in str(no)
    assert "The largest epsilon that fits now, for this kind of question, is 0.25." in str(no)
    assert "Nothing was" in str(no)


def test_a_refusal_names_delta_and_how_much_of_it_is_left() -> None:
    no = refused(Budget(5.0, 1e-6), [GaussianLoss(20.0)], ApproximateLoss(0.1, 5e-7))
    assert no.short == "delta"  # type: ignore[attr-defined]
    assert "What may fail has a delta of at most 1.0" in str(no)
    both = refused(Budget(5.0, 1e-6), [GaussianLoss(20.0)], ApproximateLoss(6.0, 5e-7))
    assert both.short == "epsilon"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "event", [GaussianLoss(2.0), ConcentratedLoss(0.3), Repeated(LaplaceLoss(4.0), 20), PureLoss(1.5)]
)
def test_what_is_said_to_fit_is_paid_and_a_little_more_is_not(event: Event) -> None:
    account = AccountState(Budget(1.0, 1e-6)).after(LaplaceLoss(5.0))
    assert not account.affords(event)
    factors = [number / 200 for number in range(1, 200)]
    paid = [factor for factor in factors if account.affords(with_less(event, factor) or event)]
    found = fitting(account, event)
    assert found is not None
    smaller, larger = (with_less(event, max(paid) + more) for more in (0.0, 0.01))
    assert smaller is not None
    assert larger is not None
    assert account.affords(smaller)
    assert not account.affords(larger)
    prices = [price(each, account.budget).epsilon for each in (smaller, larger)]
    assert 0.999 * prices[0] <= found <= prices[1]
    assert fitting(AccountState(Budget(1.0, 1e-6)), event) is None


def test_events_are_made_smaller_part_by_part_or_not_at_all() -> None:
    whole = Composed((PureLoss(1.0), Parallel((LaplaceLoss(1.0), Repeated(GaussianLoss(1.0), 3)))))
    half = Composed((PureLoss(0.5), Parallel((LaplaceLoss(2.0), Repeated(GaussianLoss(2.0), 3)))))
    assert with_less(whole, 0.5) == half
    assert with_less(ConcentratedLoss(1.0), 0.5) == ConcentratedLoss(0.25)
    assert with_less(ApproximateLoss(1.0, 0.1), 0.5) == ApproximateLoss(0.5, 0.1)
    assert with_less(Composed((whole, Sampled(GaussianLoss(1.0), 0.1))), 0.5) is None
