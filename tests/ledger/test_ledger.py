from __future__ import annotations

import copy
import datetime
import json
import math
import pickle
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.filters.amount import LOSS_UNITS
from discreet.accounting.filters.union import chosen
from discreet.core.budget import Budget
from discreet.core.errors import (
    BudgetExceeded,
    KeyReused,
    LedgerError,
    NotPermitted,
    ParameterError,
    Unaccountable,
    UncommittedCharge,
)
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    Parallel,
    PureLoss,
    Repeated,
    Sampled,
)
from discreet.core.ledger import Committed, Ledger, Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.account_state import AccountState
from discreet.ledger.ledger_view import show, verify
from discreet.ledger.sqlite_ledger import SqliteLedger

ADD_REMOVE, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey.ledger"


@pytest.fixture
def ledger(path: Path) -> SqliteLedger:
    return SqliteLedger.create(path, Budget(1.0), name="survey", neighbors=ADD_REMOVE)


def asked(ledger: Ledger, event: Event, key: str | None = None, request: str = "q", **more: Any) -> Reservation:
    paid = ledger.reserve(event, "a question", request=request, key=key, **more)
    assert isinstance(paid, Reservation)
    return paid


def test_a_sqlite_ledger_is_a_ledger(ledger: SqliteLedger) -> None:
    account: Ledger = ledger
    assert account.commit(asked(account, PureLoss(0.5)), b"42").result == b"42"


def test_a_charge_is_spent_from_the_reservation_on(ledger: SqliteLedger, path: Path) -> None:
    asked(ledger, PureLoss(0.25))
    assert ledger.balance().certified == 0.25
    assert SqliteLedger.open(path).balance().remaining == 0.75


def test_a_dangling_reservation_stays_spent_and_its_key_asks_in_vain(ledger: SqliteLedger, path: Path) -> None:
    asked(ledger, PureLoss(0.75), key="k")
    ledger.close()
    again = SqliteLedger.open(path)
    with pytest.raises(UncommittedCharge, match="new key"):
        again.reserve(PureLoss(0.75), "a question", request="q", key="k")
    assert [entry.committed for entry in again.entries()] == [False]
    with pytest.raises(BudgetExceeded):
        asked(again, PureLoss(0.75), key="other")
    asked(again, PureLoss(0.25), key="new")


def test_a_committed_key_gives_the_same_bytes_and_charges_nothing(ledger: SqliteLedger, path: Path) -> None:
    result = bytes(range(256)) * 50
    first = ledger.commit(asked(ledger, PureLoss(0.5), key="k"), result)
    replayed = SqliteLedger.open(path).reserve(PureLoss(0.5), "again", request="q", key="k")
    assert replayed == Committed("k", first.number, first.head, first.at, result, replayed=True)
    assert ledger.balance().certified == 0.5
    assert ledger.head == first.head


@pytest.mark.parametrize(
    ("event", "request_", "analyst"),
    [(PureLoss(0.5), "other", None), (PureLoss(0.25), "q", None), (PureLoss(0.5), "q", "eve")],
)
def test_a_key_with_another_request_is_refused(
    ledger: SqliteLedger, event: Event, request_: str, analyst: str | None
) -> None:
    ledger.commit(asked(ledger, PureLoss(0.5), key="k"), b"42")
    before = ledger.head
    with pytest.raises(KeyReused):
        ledger.reserve(event, "a question", request=request_, key="k", analyst=analyst)
    assert ledger.head == before


def test_a_dangling_key_with_another_request_is_refused_too(ledger: SqliteLedger) -> None:
    asked(ledger, PureLoss(0.5), key="k")
    with pytest.raises(KeyReused):
        ledger.reserve(PureLoss(0.5), "a question", request="other", key="k")


def test_without_a_key_every_request_is_charged(ledger: SqliteLedger) -> None:
    for _ in range(4):
        ledger.commit(asked(ledger, PureLoss(0.25)), b"")
    assert ledger.balance().remaining == 0.0


def test_a_refusal_spends_nothing_and_leaves_the_head(ledger: SqliteLedger, path: Path) -> None:
    asked(ledger, PureLoss(0.75))
    before, size = ledger.head, len(ledger.entries())
    with pytest.raises(BudgetExceeded, match=r"needs epsilon 0\.5 .* has 0\.25") as refusal:
        asked(ledger, PureLoss(0.5), key="k")
    assert (refusal.value.values["needed"], refusal.value.values["left"]) == (0.5, 0.25)
    assert (ledger.head, len(ledger.entries())) == (before, size)
    assert SqliteLedger.open(path, before).balance().certified == 0.75
    asked(ledger, PureLoss(0.25), key="k")


def test_affords_says_what_reserve_would_do(ledger: SqliteLedger) -> None:
    asked(ledger, PureLoss(0.75))
    assert ledger.affords(PureLoss(0.25))
    assert not ledger.affords(PureLoss(0.2500001))
    assert ledger.balance().certified == 0.75


def test_one_charge_pays_for_one_result(ledger: SqliteLedger) -> None:
    paid = asked(ledger, PureLoss(0.5))
    first = ledger.commit(paid, b"42")
    assert ledger.commit(paid, b"42") == Committed(first.key, first.number, first.head, first.at, b"42", True)
    with pytest.raises(KeyReused, match="another result"):
        ledger.commit(paid, b"43")


def test_a_reservation_of_nobody_is_not_committed(ledger: SqliteLedger) -> None:
    paid = asked(ledger, PureLoss(0.5), key="k")
    for forged in (Reservation("l", 1, paid.head), Reservation("k", 7, paid.head), Reservation("k", 1, "0" * 64)):
        with pytest.raises(LedgerError, match="no such reservation"):
            ledger.commit(forged, b"42")


def test_one_cap_holds_for_all_analysts_together(path: Path) -> None:
    caps = {"ann": Budget(0.75), "bob": Budget(0.5)}
    ledger = SqliteLedger.create(path, Budget(1.0), name="s", neighbors=ADD_REMOVE, analysts=caps)
    asked(ledger, PureLoss(0.75), analyst="ann")
    with pytest.raises(BudgetExceeded, match="account of the data set"):
        asked(ledger, PureLoss(0.5), analyst="bob")
    asked(ledger, PureLoss(0.25), analyst="bob")
    assert (ledger.balance("ann").certified, ledger.balance("bob").certified, ledger.balance().certified) == (
        0.75,
        0.25,
        1.0,
    )


def test_an_analyst_is_held_to_a_smaller_cap(path: Path) -> None:
    SqliteLedger.create(
        path, Budget(1.0), name="s", neighbors=ADD_REMOVE, analysts={"ann": Budget(0.25), "bob": Budget(0.5)}
    )
    ann = SqliteLedger.open(path, analyst="ann")
    asked(ann, PureLoss(0.25))
    before = ann.head
    with pytest.raises(BudgetExceeded, match="account of ann"):
        asked(ann, PureLoss(0.25))
    assert ann.head == before
    assert not ann.affords(PureLoss(0.01))
    assert ann.affords(PureLoss(0.5), analyst="bob")


def test_with_caps_for_analysts_every_charge_names_one(path: Path) -> None:
    ledger = SqliteLedger.create(path, Budget(1.0), name="s", neighbors=ADD_REMOVE, analysts={"ann": Budget(0.25)})
    with pytest.raises(NotPermitted, match="nobody is named"):
        asked(ledger, PureLoss(0.1))
    with pytest.raises(NotPermitted, match="eve has no account"):
        asked(ledger, PureLoss(0.1), analyst="eve")
    with pytest.raises(NotPermitted, match="eve has no account"):
        ledger.balance("eve")


def test_an_analyst_may_come_later_but_caps_do_not_change(ledger: SqliteLedger, path: Path) -> None:
    other = SqliteLedger.open(path)
    ledger.admit("ann", Budget(0.25))
    asked(other, PureLoss(0.25), analyst="ann")
    with pytest.raises(NotPermitted):
        asked(other, PureLoss(0.25))
    with pytest.raises(ParameterError, match="open already"):
        other.admit("ann", Budget(0.5))
    with pytest.raises(ParameterError, match="smaller"):
        other.admit("bob", Budget(2.0))
    assert verify(path).entries == 3


def test_a_release_without_a_promise_needs_a_waiver_and_is_recorded_at_no_cost(ledger: SqliteLedger) -> None:
    event = NoPromise("swapping keeps no promise")
    for waiver in (None, "  "):
        with pytest.raises(NotPermitted, match="waiver"):
            ledger.reserve(event, "table", request="t", waiver=waiver)
    ledger.commit(asked(ledger, event, waiver="approved by the board"), b"table")
    (entry,) = ledger.entries()
    assert (entry.waiver, entry.epsilon, entry.delta) == ("approved by the board", 0.0, 0.0)
    assert ledger.balance().certified == 0.0


def test_a_waiver_covers_nothing_that_keeps_a_promise(ledger: SqliteLedger) -> None:
    with pytest.raises(ParameterError, match="waiver"):
        ledger.reserve(PureLoss(0.1), "q", request="q", waiver="because")
    mixed = Composed((PureLoss(0.1), NoPromise("k-anonymity")))
    with pytest.raises(Unaccountable, match="separately"):
        ledger.reserve(mixed, "q", request="q", waiver="because")
    assert ledger.entries() == ()


@pytest.mark.parametrize(
    ("neighbors", "event"),
    [
        (REPLACE, Sampled(GaussianLoss(1.0), 0.01)),
        (REPLACE, Repeated(Parallel((PureLoss(0.1), PureLoss(0.2))), 2)),
        (ADD_REMOVE, Sampled(GaussianLoss(1.0), 0.01, "fixed_size")),
    ],
)
def test_an_event_that_is_unsound_for_the_neighbors_is_refused(path: Path, neighbors: Neighbors, event: Event) -> None:
    ledger = SqliteLedger.create(path, Budget(9.0, 1e-6), name="s", neighbors=neighbors)
    with pytest.raises(Unaccountable, match="sound for"):
        asked(ledger, event)
    with pytest.raises(Unaccountable, match="sound for"):
        ledger.affords(event)


def test_the_relation_and_the_unit_are_kept(path: Path) -> None:
    unit = Unit("user", column="patient", rows=3)
    SqliteLedger.create(path, Budget(2.0, 1e-6), name="clinic", neighbors=REPLACE, unit=unit).close()
    ledger = SqliteLedger.open(path)
    assert (ledger.name, ledger.neighbors, ledger.unit) == ("clinic", REPLACE, unit)
    assert ledger.budget == Budget(2.0, 1e-6)
    assert ledger.accounts[None] == AccountState(Budget(2.0, 1e-6))


def test_a_reopened_account_stands_as_it_stood(path: Path) -> None:
    training = Repeated(Sampled(GaussianLoss(1.5), 0.01), 200)
    for first in (PureLoss(0.1), GaussianLoss(10.0), ApproximateLoss(0.2, 1e-7), training):
        ledger = SqliteLedger.create(path, Budget(3.0, 1e-6), name="s", neighbors=ADD_REMOVE)
        asked(ledger, first)
        asked(ledger, GaussianLoss(20.0))
        asked(ledger, LaplaceLoss(50.0))
        ledger.close()
        again = SqliteLedger.open(path)
        assert again.accounts == ledger.accounts
        assert again.balance() == ledger.balance()
        assert again.accounts[None].union == chosen(Budget(3.0, 1e-6), first)
        again.close()
        for file in path.parent.iterdir():
            file.unlink()


def test_an_account_charges_deltas_apart(path: Path) -> None:
    ledger = SqliteLedger.create(path, Budget(5.0, 1e-6), name="s", neighbors=ADD_REMOVE)
    asked(ledger, ApproximateLoss(0.01, 4e-7))
    with pytest.raises(BudgetExceeded, match="delta 1e-06"):
        asked(ledger, ApproximateLoss(0.01, 4e-7))
    asked(ledger, GaussianLoss(10.0))
    assert ledger.entries()[0].epsilon == pytest.approx(0.01, abs=1e-4)
    assert ledger.entries()[0].delta == 1e-6


def test_a_pure_account_has_no_price_for_gaussian_noise(ledger: SqliteLedger) -> None:
    with pytest.raises(Unaccountable):
        asked(ledger, GaussianLoss(50.0))


def test_an_entry_keeps_event_purpose_time_and_head(ledger: SqliteLedger) -> None:
    event = Composed((Repeated(LaplaceLoss(16.0), 3), PureLoss(0.125)))
    paid = ledger.reserve(event, "a fit", request=b"\x00\xff", key="k")
    (entry,) = ledger.entries()
    assert (entry.event, entry.purpose, entry.key, entry.head) == (event, "a fit", "k", paid.head)
    assert datetime.date.fromisoformat(entry.at) <= datetime.datetime.now(datetime.UTC).date()
    assert (entry.epsilon, entry.delta) == (3 / 16 + 0.125, 0.0)


def test_create_refuses_to_overwrite_and_open_to_create(path: Path) -> None:
    ledger = SqliteLedger.create(path, Budget(1.0), name="s", neighbors=ADD_REMOVE)
    asked(ledger, PureLoss(1.0))
    with pytest.raises(LedgerError, match="there already"):
        SqliteLedger.create(path, Budget(1.0), name="s", neighbors=ADD_REMOVE)
    assert SqliteLedger.open(path).balance().remaining == 0.0


def test_a_cap_above_that_of_the_data_set_is_refused_before_a_file_is_made(path: Path) -> None:
    with pytest.raises(ParameterError, match="smaller"):
        SqliteLedger.create(path, Budget(1.0), name="s", neighbors=ADD_REMOVE, analysts={"ann": Budget(1.0, 0.1)})
    assert not path.exists()


def test_a_ledger_that_cannot_be_made_leaves_nothing_behind(tmp_path: Path) -> None:
    for make in (SqliteLedger.open, lambda path: SqliteLedger.reanchor(path, "0" * 64, "because")):
        with pytest.raises(LedgerError):
            make(tmp_path / "none.ledger")
    with pytest.raises(LedgerError, match="cannot be written"):
        SqliteLedger.create(tmp_path / "no" / "s.ledger", Budget(1.0), name="s", neighbors=ADD_REMOVE)
    with pytest.raises(ParameterError, match="name is empty"):
        SqliteLedger.create(
            tmp_path / "s.ledger", Budget(1.0), name="s", neighbors=ADD_REMOVE, analysts={"": Budget(0.5)}
        )
    assert list(tmp_path.iterdir()) == []


def test_all_names_of_a_file_are_one_account(ledger: SqliteLedger, path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    other = SqliteLedger.open(link)
    asked(other, PureLoss(0.5))
    assert other.path == ledger.path
    assert ledger.balance().certified == 0.5


def test_a_copy_is_the_same_account(ledger: SqliteLedger) -> None:
    for other in (copy.copy(ledger), copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger))):
        asked(other, PureLoss(0.25))
    assert ledger.balance().remaining == 0.25


def test_a_closed_ledger_opens_again_by_itself(ledger: SqliteLedger) -> None:
    with ledger:
        asked(ledger, PureLoss(0.25))
    assert ledger.balance().certified == 0.25


def test_the_statement_tells_what_was_spent_and_what_dangles(ledger: SqliteLedger, path: Path) -> None:
    ledger.commit(asked(ledger, PureLoss(0.25)), b"")
    asked(ledger, LaplaceLoss(4.0), analyst="ann")
    asked(ledger, NoPromise("none"), waiver="the\x1b[2Jboard")
    text = show(path)
    assert "epsilon 0.5 of 1 at delta 0 is used; 0.5 is left" in text
    assert "3, of which 2 dangling" in text
    assert ledger.head in text
    assert "\x1b" not in text
    assert str(ledger) == text


def test_the_statement_is_escaped_in_html(path: Path) -> None:
    ledger = SqliteLedger.create(path, Budget(1.0, 1e-6), name="<b>s</b>", neighbors=ADD_REMOVE)
    ledger.reserve(GaussianLoss(20.0), "<script>alert(1)</script>", request="q", analyst='"><img>')
    html = ledger._repr_html_()
    assert "<script>" not in html
    assert "<img>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html


def test_the_form_of_the_entries_is_permanent(ledger: SqliteLedger) -> None:
    """Readers in other languages depend on these names and on text for whole numbers."""
    ledger.commit(asked(ledger, PureLoss(0.5), key="k"), b"42")
    first, second, third = (json.loads(link.body) for link in ledger.chain())
    unit = {"kind": "record", "column": None, "rows": 1}
    whole = {"loss": str(LOSS_UNITS), "delta": "0"}
    account = {"account": None, "epsilon": 1.0, "delta": 0.0}
    opened = {"name": "survey", "neighbors": "add_remove", "unit": unit, "accounts": [account]}
    assert first == {"number": 0, "kind": "open", "key": "", "at": first["at"], **opened}
    half = {"loss": str(LOSS_UNITS // 2), "delta": "0"}
    members = [{"is": "pure", "share": "0", "cap": whole}]
    assert second["charges"] == [{"account": None, "members": members, "spent": [half]}]
    assert second["price"] == {"epsilon": 0.5, "delta": 0.0}
    assert second["event"] == {"discreet.event": 1, "event": {"is": "pure", "epsilon": 0.5}}
    assert third["result"] == "73475cb40a568e8da8a045ced110137e159f890ac4da883b6b17dc651b3a8049"
    assert third["reservation"] == 1


def test_the_epsilon_spent_reaches_the_budget_with_the_cap(path: Path) -> None:
    ledger = SqliteLedger.create(path, Budget(1.0, 1e-6), name="s", neighbors=ADD_REMOVE)
    assert ledger.balance().certified == 0.0
    noise = GaussianLoss(30.0)
    while ledger.affords(noise):
        asked(ledger, noise)
    assert 0.95 < ledger.balance().certified <= 1.0
    assert 0.9 < ledger.balance().used <= 1.0
    assert math.isclose(ledger.balance().remaining, 1.0 - ledger.balance().certified)


def test_a_path_alone_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"Call SqliteLedger.open\(path\)"):
        SqliteLedger(str(tmp_path / "new.ledger"))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"its budget is 1.0.*Give a Budget\(epsilon, delta\)"):
        SqliteLedger.create(tmp_path / "new.ledger", 1.0, name="x", neighbors=Neighbors.ADD_REMOVE)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
