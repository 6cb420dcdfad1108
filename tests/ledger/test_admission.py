"""How often an account pays: as often as it then does."""

from __future__ import annotations

import pytest

from discreet.core.budget import Budget
from discreet.core.events import Event, GaussianLoss, LaplaceLoss, PureLoss, Repeated, Sampled
from discreet.core.neighbors import Neighbors
from discreet.ledger.account_state import AccountState
from discreet.ledger.admission import often
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger

TRAINING = Repeated(Sampled(GaussianLoss(2.0), 0.05), 100)


def really(standing: AccountState, event: Event) -> int:
    count = 0
    while (standing := standing.after(event)).holds:
        count += 1
    return count


@pytest.mark.parametrize("event", [LaplaceLoss(8.0), LaplaceLoss(100.0), GaussianLoss(100.0), TRAINING])
def test_what_is_said_is_what_is_paid_one_after_the_other(event: Event) -> None:
    for before in (None, GaussianLoss(10.0)):
        standing = AccountState(Budget(2.0, 1e-6)) if before is None else AccountState(Budget(2.0, 1e-6)).after(before)
        paid = really(standing, event)
        assert 0.99 * paid <= often(standing, event, 10_000) <= paid


def test_a_count_ends_at_the_most_that_was_asked_for_and_begins_at_nothing() -> None:
    assert often(AccountState(Budget(9.0)), PureLoss(1e-4), 10_000) == 10_000
    assert often(AccountState(Budget(1.0)), PureLoss(1e-4), 20_000) == pytest.approx(10_000, abs=1)
    assert often(AccountState(Budget(1.0)), PureLoss(2.0), 10) == 0
    assert often(AccountState(Budget(1.0), expired="done"), PureLoss(0.1), 10) == 0


def test_the_smaller_of_an_analysts_and_the_data_sets_account_counts(tmp_path: object) -> None:
    with SqliteLedger.create(f"{tmp_path}/a.ledger", Budget(1.0), name="a", neighbors=Neighbors.REPLACE) as ledger:
        ledger.admit("ann", Budget(0.5))
        assert ledger.often(PureLoss(0.125), 100, analyst="ann") == 4
    account = MemoryLedger(Budget(1.0))
    assert account.often(PureLoss(0.125), 100) == 8
    assert not account.entries()
