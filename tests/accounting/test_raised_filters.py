"""Accounts that are filled and raised many times: what was granted before stays granted."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from discreet.accounting.accountant import delta_interval
from discreet.accounting.filters.amount import DELTA_UNITS, LOSS_UNITS
from discreet.accounting.filters.gaussian_filter import GaussianFilter
from discreet.core.budget import Budget
from discreet.core.events import ApproximateLoss, Composed, Event, GaussianLoss, Sampled
from discreet.ledger.account_state import AccountState

DELTA = 1e-4


def rare(chance: float) -> Event:
    """Shows its data set with this chance, at any epsilon that is asked here."""
    return Sampled(GaussianLoss(0.07), chance)


FIRST = Composed((GaussianLoss(0.8932), rare(0.9 * DELTA)))  # takes all of (5, 1e-4), and leaves hardly any room


@dataclass
class Filled:
    """An account and all that it has admitted."""

    standing: AccountState
    admitted: tuple[Event, ...] = ()
    granted: float = 0.0

    def charge(self, event: Event) -> bool:
        after = self.standing.after(event)
        if after.holds:
            self.standing, self.admitted = after, (*self.admitted, event)
        return after.holds

    @property
    def rule(self) -> GaussianFilter:
        assert self.standing.union is not None
        (rule,) = self.standing.union.members
        assert isinstance(rule, GaussianFilter)
        return rule

    @property
    def room(self) -> float:
        (spent,) = self.standing.spent
        assert spent is not None
        return (self.rule.cap.loss - spent.loss) / LOSS_UNITS

    @property
    def aside(self) -> float:
        return self.rule.share // 32 / DELTA_UNITS

    def fill(self) -> None:
        """Take all the slack that comes with the room that is free."""
        if self.room > 0:
            chance = 0.99 * self.aside * self.room / (self.rule.cap.loss / LOSS_UNITS)
            self.granted += chance * self.charge(rare(chance))


def filled_and_raised(raises: int) -> Filled:
    """From (5, 1e-4) to (20, 1e-4): slack where the room is small, and then Gaussian noise for nearly all of it."""
    account = Filled(AccountState(Budget(5.0, DELTA)))
    assert account.charge(FIRST)
    for number in range(raises - 1):
        account.standing = account.standing.raised(Budget(5 + 0.055 * 5.2 ** (number / (raises - 2)), DELTA))
        account.fill()
    account.standing = account.standing.raised(Budget(20.0, DELTA))
    assert account.charge(GaussianLoss((account.room * 0.99999) ** -0.5))
    assert account.charge(ApproximateLoss(1e-12, account.rule.cap.delta / DELTA_UNITS * 0.999))
    return account


@pytest.mark.parametrize("raises", [12, pytest.param(50, marks=pytest.mark.slow)])
def test_an_account_that_is_raised_again_and_again_stays_within_its_delta(raises: int) -> None:
    """It held at a certified delta of 1.061e-4 after 50 raises, with 4.4 times the slack that was put aside."""
    account = filled_and_raised(raises)
    together = delta_interval(Composed(account.admitted), 20.0)
    assert 0.9 * account.aside < account.granted <= account.aside
    assert together.lower > 0.95 * DELTA
    assert together.upper <= DELTA
