from __future__ import annotations

import copy
import math
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from scipy.stats import norm

from discreet.accounting.accountant import price
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.core.budget import Budget
from discreet.core.errors import (
    BudgetExceeded,
    KeyReused,
    LedgerError,
    NotPermitted,
    Unaccountable,
    UncommittedCharge,
)
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
    PureLoss,
    Repeated,
    Sampled,
)
from discreet.core.ledger import Committed, Ledger, Reservation
from discreet.core.neighbors import RECORD, Neighbors
from discreet.ledger.memory_ledger import MemoryLedger


def planned(account: Ledger, event: Event, key: str | None = None, request: str = "fit") -> Reservation:
    paid = account.reserve(event, "a fit", request=request, key=key)
    assert isinstance(paid, Reservation)
    return paid


def test_a_plan_that_costs_the_whole_budget_is_paid() -> None:
    account = MemoryLedger(Budget(1.0))
    done = account.commit(planned(account, Composed((PureLoss(0.5), Repeated(LaplaceLoss(8.0), 4)))), b"model")
    assert done.result == b"model"
    assert account.head == done.head
    assert (account.balance().certified, account.balance().remaining) == (1.0, 0.0)


@pytest.mark.parametrize("epsilon", [math.nextafter(1.0, 2.0), 1.0 + 1e-9, 3.0])
def test_there_is_no_tolerance(epsilon: float) -> None:
    account = MemoryLedger(Budget(1.0))
    assert not account.affords(PureLoss(epsilon))
    with pytest.raises(BudgetExceeded, match="it needs epsilon"):
        planned(account, PureLoss(epsilon))
    assert account.balance().used == 0.0
    planned(account, PureLoss(1.0))


def gaussian_delta(multiplier: float, epsilon: float) -> float:
    """Balle and Wang 2018, Theorem 8."""
    a, b = 0.5 / multiplier, epsilon * multiplier
    return float(norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b))


def test_a_plan_is_priced_by_the_tight_accountant() -> None:
    multiplier = 4.2246788893268  # the least for (1, 1e-6)
    assert gaussian_delta(multiplier, 1.0) == pytest.approx(1e-6, rel=1e-9)
    account = MemoryLedger(Budget(1.0, 1e-6))
    assert not account.affords(GaussianLoss(multiplier * (1 - 1e-4)))
    assert not account.affords(Repeated(GaussianLoss(multiplier * 2 * (1 - 1e-4)), 4))
    planned(account, Repeated(GaussianLoss(multiplier * 2 * (1 + 1e-3)), 4))


def test_an_approximate_plan_may_cost_exactly_the_budget() -> None:
    account = MemoryLedger(Budget(1.0, 1e-6))
    planned(account, Composed((PureLoss(0.5), ApproximateLoss(0.5, 1e-6))))


def test_a_budget_without_delta_pays_for_no_gaussian_noise() -> None:
    with pytest.raises(Unaccountable):
        planned(MemoryLedger(Budget(1.0)), GaussianLoss(100.0))


def test_a_budget_without_delta_pays_for_no_chance_of_failure() -> None:
    table = LossTable(0, (1 - 1e-9,), 1e-9)
    for event in (ApproximateLoss(0.5, 1e-9), DiscreteLoss(0.1, table, table)):
        account = MemoryLedger(Budget(1.0))
        assert not account.affords(event)
        with pytest.raises(BudgetExceeded, match="delta 1e-09"):
            planned(account, event)


def test_plans_are_paid_until_the_budget_is_gone_whether_they_were_committed_or_not() -> None:
    for finish in (True, False):
        account = MemoryLedger(Budget(1.0))
        for _ in range(4):
            paid = planned(account, PureLoss(0.25))
            if finish:
                account.commit(paid, b"model")
        assert not account.affords(PureLoss(0.25))
        with pytest.raises(BudgetExceeded, match="has 0 of 1 left"):
            planned(account, PureLoss(0.25))
        assert len(account.entries()) == 4


def test_a_second_plan_of_the_whole_budget_is_refused_whatever_its_kind() -> None:
    training = Repeated(Sampled(GaussianLoss(1.0), 0.01), 100)
    for plan in (training, ConcentratedLoss(0.01), GaussianLoss(4.5), PureLoss(1.0)):
        account = MemoryLedger(Budget(1.0001 * price(plan, Budget(1.0, 1e-6)).epsilon, 1e-6))
        planned(account, plan)
        with pytest.raises(BudgetExceeded, match="left at delta 1e-06"):
            planned(account, plan)


def test_ten_questions_of_a_tenth_are_paid_and_no_eleventh() -> None:
    for budget in (Budget(1.0), Budget(1.0, 1e-6), Budget(1.0, 1e-12)):
        account = MemoryLedger(budget)
        for _ in range(10):
            planned(account, LaplaceLoss(1 / 0.1))
        assert account.balance().certified == 1.0
        assert account.balance().remaining == 0.0
        assert not account.affords(LaplaceLoss(1 / 0.1))


def test_of_many_threads_as_many_are_paid_as_the_budget_allows() -> None:
    account = MemoryLedger(Budget(1.0, 1e-6))

    def ask(_: int) -> bool:
        try:
            planned(account, PureLoss(1 / 16))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(ask, range(64))) == 16
    assert account.balance().certified == 1.0


def test_a_balance_has_one_figure_of_what_is_left_in_every_form() -> None:
    """After 0.3, 0.2 and a model of 0.8 at a tenth of delta."""
    account = MemoryLedger(Budget(2.0, 1e-6))
    for event in (LaplaceLoss(1 / 0.3), LaplaceLoss(5.0), GaussianLoss(gaussian_multiplier(0.8, 1e-7))):
        planned(account, event)
    stands = account.balance()
    assert stands.certified + stands.remaining == 2.0
    assert stands.used == pytest.approx(stands.certified / 2.0)
    assert stands.to_dict() == {"epsilon": 2.0, "delta": 1e-6} | {
        "certified": stands.certified,
        "remaining": stands.remaining,
    }
    used, left = f"{stands.certified:.3f}", stands.left
    assert float(used) + float(left) == pytest.approx(2.0, abs=1e-12)
    assert str(stands) == f"epsilon {used} of 2 at delta 1e-06 is used; {left} is left"
    assert f"epsilon {left}" in stands._repr_html_()
    with pytest.raises(BudgetExceeded, match=f"has {left} of 2 left"):
        planned(account, PureLoss(1.9))


def test_a_balance_reads_as_what_is_used() -> None:
    account = MemoryLedger(Budget(5.0, 1e-6))
    assert str(account.balance()) == "epsilon 0 of 5 at delta 1e-06 is used; 5 is left"
    planned(account, PureLoss(0.01))
    assert account.balance().certified == 0.01
    assert account.balance().used < 0.01
    assert "<td>epsilon 0.01 of 5 at delta <span class='whole'>1e-06</span></td>" in account.balance()._repr_html_()
    for _ in range(99):
        planned(account, GaussianLoss(40.0))
    stands = account.balance()
    assert stands.certified < sum(entry.epsilon for entry in account.entries()) / 3
    assert stands.certified < account.budget.epsilon


def test_a_committed_key_is_replayed_a_dangling_one_is_not_and_another_request_is_refused() -> None:
    account = MemoryLedger(Budget(1.0))
    paid = planned(account, PureLoss(1.0), key="k")
    with pytest.raises(UncommittedCharge):
        planned(account, PureLoss(1.0), key="k")
    first = account.commit(paid, b"model")
    again = account.reserve(PureLoss(1.0), "a fit", request="fit", key="k")
    assert again == Committed("k", first.number, first.head, first.at, b"model", replayed=True)
    assert account.commit(paid, b"model").replayed
    with pytest.raises(KeyReused):
        account.reserve(PureLoss(1.0), "a fit", request="other", key="k")
    with pytest.raises(KeyReused):
        account.commit(paid, b"other model")


def test_a_reservation_of_another_account_is_not_committed() -> None:
    paid = planned(MemoryLedger(Budget(1.0)), PureLoss(0.5), key="k")
    with pytest.raises(LedgerError, match="no such reservation"):
        MemoryLedger(Budget(1.0)).commit(paid, b"model")


def test_a_release_without_a_promise_needs_a_waiver_and_leaves_the_plan() -> None:
    account = MemoryLedger(Budget(1.0))
    with pytest.raises(NotPermitted):
        planned(account, NoPromise("random projection"))
    account.reserve(NoPromise("random projection"), "sketch", request="s", waiver="synthetic data")
    planned(account, PureLoss(1.0))
    assert [entry.epsilon for entry in account.entries()] == [0.0, 1.0]
    assert [entry.waiver for entry in account.entries()] == ["synthetic data", None]


def test_the_relation_is_kept_to() -> None:
    account = MemoryLedger(Budget(1.0, 1e-6), Neighbors.REPLACE, RECORD)
    assert (account.neighbors, account.unit) == (Neighbors.REPLACE, RECORD)
    with pytest.raises(Unaccountable, match="sound for add_remove"):
        planned(account, Sampled(GaussianLoss(2.0), 0.01))


def test_a_copy_is_the_same_account_and_no_other_process_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    account = MemoryLedger(Budget(1.0))
    assert copy.deepcopy(account) is account
    assert copy.copy(account) is account
    with pytest.raises(LedgerError, match="spend the budget twice"):
        pickle.dumps(account)
    other = os.getpid() + 1
    monkeypatch.setattr(os, "getpid", lambda: other)
    with pytest.raises(LedgerError, match="fork"):
        planned(account, PureLoss(0.5))


def test_a_charge_between_the_price_of_another_and_its_turn_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    account = MemoryLedger(Budget(1.0))
    decided = account._book.decided

    def late(decide: Any, **how: Any) -> Any:
        monkeypatch.setattr(account._book, "decided", decided)
        account.reserve(PureLoss(0.25), "another", request="another")
        return decided(decide, **how)

    monkeypatch.setattr(account._book, "decided", late)
    account.reserve(PureLoss(0.5), "one", request="one")
    assert account.balance().certified == 0.75


def test_what_a_caller_does_to_a_statement_is_not_told_to_the_next_one() -> None:
    ledger = MemoryLedger(Budget(1.0))
    paid: Any = ledger.reserve(PureLoss(0.1), "count", request="r", key="k")
    for _ in range(2):
        done = ledger.commit(paid, b"5", {"neighbors": "add_remove", "unit": {"kind": "record"}})
        again: Any = ledger.reserve(PureLoss(0.1), "count", request="r", key="k")
        for one in (done, again):
            assert one.stated == {"neighbors": "add_remove", "unit": {"kind": "record"}}
            stated: Any = one.stated
            stated["neighbors"] = stated["unit"]["kind"] = "nobody"
