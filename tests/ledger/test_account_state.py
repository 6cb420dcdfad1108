"""Raised and expired accounts: on record with a reason, never lenient, and checked by whoever replays the chain."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting.filters.amount import DELTA_UNITS, Amount
from discreet.accounting.filters.union import chosen
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, LedgerBroken, NotPermitted, ParameterError
from discreet.core.events import Event, GaussianLoss, LaplaceLoss, PureLoss, Repeated, Sampled
from discreet.core.ledger import Reservation
from discreet.core.neighbors import Neighbors
from discreet.ledger.account_state import raised
from discreet.ledger.chain import Chain, canonical, sealed
from discreet.ledger.sqlite_ledger import SqliteLedger

TRAINING = Repeated(Sampled(GaussianLoss(2.0), 0.01), 100)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "survey.ledger")


def created(path: str, budget: Budget) -> SqliteLedger:
    return SqliteLedger.create(path, budget, name="survey", neighbors=Neighbors.ADD_REMOVE)


def pay(ledger: SqliteLedger, event: Event, analyst: str | None = None) -> None:
    reservation = ledger.reserve(event, "a question", request="q", analyst=analyst)
    assert isinstance(reservation, Reservation)
    ledger.commit(reservation, b"")


def test_raised_members_keep_the_larger_budget_and_lose_nothing() -> None:
    before, after = Budget(1.0, 1e-6), Budget(1.5, 3e-6)
    for first in (PureLoss(0.1), GaussianLoss(10.0), GaussianLoss(6.0), TRAINING):
        old = chosen(before, first)
        new = raised(old, before, after)
        assert new.delta <= Fraction(after.delta)
        assert len(new.members) == len(old.members)
        for one, other in zip(old.members, new.members, strict=True):
            assert other.sound
            assert one.cap.within(other.cap)
            assert other.cap.loss > one.cap.loss


def test_a_raised_account_pays_what_it_refused_and_its_reason_is_kept(path: str) -> None:
    with created(path, Budget(1.0)) as ledger:
        pay(ledger, PureLoss(0.75))
        with pytest.raises(BudgetExceeded):
            pay(ledger, PureLoss(0.5))
        ledger.raise_cap(Budget(1.25), "a second wave of the survey")
        pay(ledger, PureLoss(0.5))
        with pytest.raises(BudgetExceeded):
            pay(ledger, PureLoss(2.0**-20))
        assert ledger.verify().entries == 6
    with SqliteLedger.open(path) as again:
        assert again.budget == Budget(1.25)
        (link,) = [link for link in again.chain() if link.kind == "raise"]
        assert link.fields["reason"] == "a second wave of the survey"


def test_an_account_is_raised_and_read_again_after_a_report_and_plain_questions(path: str) -> None:
    with created(path, Budget(1.0, 1e-6)) as ledger:
        pay(ledger, GaussianLoss(6.0))
        left = ledger.balance().remaining
        pay(ledger, PureLoss(left))
        ledger.raise_cap(Budget(1.5, 1e-6), "more questions")
    with SqliteLedger.open(path) as again:
        pay(again, PureLoss(0.4))
        with pytest.raises(BudgetExceeded):
            pay(again, PureLoss(0.2))
        again.verify()


def test_an_account_with_delta_is_raised_after_training(path: str) -> None:
    with created(path, Budget(1.0, 1e-6)) as ledger:
        pay(ledger, TRAINING)
        spent = ledger.balance().certified
        ledger.raise_cap(Budget(2.0, 2e-6), "more models")
        assert 0 < ledger.balance().certified <= spent * (1 + 1e-9)
        pay(ledger, LaplaceLoss(1.0))
        assert ledger.balance().certified <= 2.0
        ledger.verify()


def test_a_cap_is_never_lowered_raised_by_nobody_or_without_a_reason(path: str) -> None:
    with created(path, Budget(1.0, 1e-6)) as ledger:
        ledger.admit("ann", Budget(0.5))
        head = ledger.head
        for budget in (Budget(1.0, 1e-6), Budget(0.5, 1e-6), Budget(2.0, 0.0)):
            with pytest.raises(ParameterError, match="not larger"):
                ledger.raise_cap(budget, "why not")
        for reason in ("", "  "):
            with pytest.raises(ParameterError, match="reason"):
                ledger.raise_cap(Budget(2.0, 1e-6), reason)
            with pytest.raises(ParameterError, match="reason"):
                ledger.expire(reason)
        with pytest.raises(ParameterError, match="exceeds"):
            ledger.raise_cap(Budget(1.5), "trusted", analyst="ann")
        with pytest.raises(NotPermitted, match="zoe has no account"):
            ledger.raise_cap(Budget(0.75), "who is she", analyst="zoe")
        assert ledger.head == head


def test_an_expired_analyst_is_refused_and_the_others_are_not(path: str) -> None:
    with created(path, Budget(1.0)) as ledger:
        ledger.admit("ann", Budget(0.5))
        ledger.admit("bob", Budget(0.5))
        pay(ledger, PureLoss(0.25), "ann")
        ledger.expire("left the institute", analyst="ann")
        for asked in (PureLoss(0.01), GaussianLoss(1e6)):
            with pytest.raises(NotPermitted, match="left the institute"):
                pay(ledger, asked, "ann")
        assert not ledger.affords(PureLoss(0.01), analyst="ann")
        pay(ledger, PureLoss(0.25), "bob")
        with pytest.raises(NotPermitted, match="has expired"):
            ledger.expire("again", analyst="ann")
        ledger.expire("the project is over")
        with pytest.raises(NotPermitted, match="the project is over"):
            pay(ledger, PureLoss(0.01), "bob")
        ledger.verify()


def _replayed(ledger: SqliteLedger, **changes: object) -> None:
    """Follow the chain again with its last entry forged, and sealed anew as a forger would."""
    chain = Chain()
    *links, last = ledger.chain()
    for link in links:
        chain.follow(link, anew=True)
    fields = {key: value for key, value in last.fields.items() if key not in ("number", "kind", "key", "at")} | changes
    chain.follow(sealed(chain.head, last.number, last.kind, last.key, **fields), anew=True)


def test_a_forged_raise_is_noticed(path: str) -> None:
    with created(path, Budget(1.0, 1e-6)) as ledger:
        pay(ledger, GaussianLoss(10.0))
        ledger.raise_cap(Budget(2.0, 1e-6), "more")
        members = ledger.chain()[-1].fields["members"]
        _replayed(ledger)
        lenient = json.loads(canonical(members))
        for member in lenient:
            member["cap"]["loss"] = str(2 * int(member["cap"]["loss"]))
        greedy = json.loads(canonical(members))
        greedy[0]["share"] = str(DELTA_UNITS // 10)
        for forged in (
            {"members": lenient},
            {"members": greedy},
            {"members": members[1:]},
            {"reason": ""},
            {"epsilon": 0.5},
        ):
            with pytest.raises(LedgerBroken):
                _replayed(ledger, **forged)


def test_a_charge_after_the_end_is_noticed(path: str) -> None:
    with created(path, Budget(1.0)) as ledger:
        pay(ledger, PureLoss(0.25))
        charge = ledger.chain()[1].fields
        ledger.expire("over")
        chain = Chain()
        for link in ledger.chain():
            chain.follow(link, anew=True)
        again = {name: value for name, value in charge.items() if name not in ("number", "kind", "key", "at")}
        again["charges"] = [
            {"account": None, "spent": [{"loss": str(2 * Amount.rounded_up(0.25, 0).loss), "delta": "0"}]}
        ]
        with pytest.raises(LedgerBroken, match="expired"):
            chain.follow(sealed(chain.head, chain.number + 1, "reserve", "new", **again), anew=True)
        living = replace(chain.accounts[None], expired="")
        chain.accounts[None] = living
        chain.follow(sealed(chain.head, chain.number + 1, "reserve", "new", **again), anew=True)
