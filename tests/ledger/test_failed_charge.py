"""A charge whose records could not be read goes on under its key: one run for one price, one at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import KeyReused, LedgerBroken, LedgerError, NotPermitted, UncommittedCharge
from discreet.core.events import PureLoss
from discreet.core.ledger import Committed, Reservation
from discreet.core.neighbors import Neighbors
from discreet.ledger.book_ledger import BookLedger
from discreet.ledger.ledger_view import verify
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger

EVENT = PureLoss(0.25)


@pytest.fixture(params=["memory", "file"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> BookLedger:
    if request.param == "memory":
        return MemoryLedger(Budget(1.0))
    return SqliteLedger.create(tmp_path / "l", Budget(1.0), name="survey", neighbors=Neighbors.ADD_REMOVE)


def asked(ledger: BookLedger, request: str = "count", key: str = "k") -> Reservation | Committed:
    return ledger.reserve(EVENT, "count", request=request, key=key)


def failed(ledger: BookLedger) -> Reservation:
    charge = asked(ledger)
    assert isinstance(charge, Reservation)
    ledger.fail(charge, "digest")
    return charge


def test_the_same_request_takes_a_failed_charge_up_again_and_pays_nothing(ledger: BookLedger) -> None:
    first = failed(ledger)
    spent = ledger.balance()
    again = asked(ledger)
    assert again == Reservation(first.key, first.number, first.head, 1, "digest")
    done = ledger.commit(again, b"7")
    assert (done.result, done.replayed, ledger.balance()) == (b"7", False, spent)
    replayed = asked(ledger)
    assert isinstance(replayed, Committed)
    assert replayed.replayed
    assert [entry.committed for entry in ledger.entries()] == [True]


def test_it_may_fail_any_number_of_times_and_is_charged_once(ledger: BookLedger) -> None:
    for turn in range(5):
        charge = failed(ledger)
        assert charge.turn == turn
    assert ledger.balance().certified == 0.25
    assert len(ledger.entries()) == 1


def test_only_one_of_sixteen_takes_it_up(ledger: BookLedger) -> None:
    failed(ledger)

    def taken(_: int) -> str:
        try:
            return type(asked(ledger)).__name__
        except UncommittedCharge:
            return "UncommittedCharge"

    with ThreadPoolExecutor(16) as pool:
        assert sorted(pool.map(taken, range(16))) == ["Reservation", *["UncommittedCharge"] * 15]


def test_who_failed_can_no_longer_commit(ledger: BookLedger) -> None:
    stale = failed(ledger)
    with pytest.raises(LedgerError, match="it failed"):
        ledger.commit(stale, b"a draw")
    again: Any = asked(ledger)
    for action in (lambda: ledger.commit(stale, b"a draw"), lambda: ledger.fail(stale, "digest")):
        with pytest.raises(LedgerError, match="taken up again"):
            action()
    assert ledger.commit(again, b"another").result == b"another"
    with pytest.raises(LedgerError):
        ledger.fail(again, "digest")


def test_another_request_does_not_get_it_and_a_silent_death_leaves_it_spent(ledger: BookLedger) -> None:
    failed(ledger)
    with pytest.raises(KeyReused):
        asked(ledger, "another question")
    asked(ledger)  # and dies
    with pytest.raises(UncommittedCharge):
        asked(ledger)


def test_it_waits_in_the_file_and_the_chain_holds_together(tmp_path: Path) -> None:
    path = tmp_path / "l"
    with SqliteLedger.create(path, Budget(1.0), name="survey", neighbors=Neighbors.ADD_REMOVE) as ledger:
        failed(ledger)
    with SqliteLedger.open(path) as ledger:
        again: Any = asked(ledger)
        ledger.commit(again, b"7")
        assert [link.kind for link in ledger.chain()] == ["open", "reserve", "fail", "resume", "commit"]
    assert (verify(path).entries, verify(path).dangling) == (5, 0)


def test_an_account_that_was_closed_lets_nothing_go_on(tmp_path: Path) -> None:
    with SqliteLedger.create(tmp_path / "l", Budget(1.0), name="survey", neighbors=Neighbors.ADD_REMOVE) as ledger:
        failed(ledger)
        ledger.expire("the study is over")
        with pytest.raises(NotPermitted, match="study is over"):
            asked(ledger)


def test_a_chain_does_not_add_up_if_what_never_failed_goes_on() -> None:
    for steps in (["resume"], ["fail", "fail"], ["fail", "commit"], ["fail", "resume", "resume"]):
        ledger = MemoryLedger(Budget(1.0))
        charge = asked(ledger)
        with pytest.raises(LedgerBroken):
            written(ledger, charge.number, steps)


def written(ledger: MemoryLedger, number: int, kinds: list[str]) -> None:
    fields: dict[str, dict[str, Any]] = {
        "fail": {"of": "k", "turn": 0, "asked": "d"},
        "resume": {"of": "k"},
        "commit": {"reservation": number, "result": "0"},
    }

    def decided(page: Any) -> None:
        for kind in kinds:
            page.add(kind, "k" if kind == "commit" else page.chain.head, **fields[kind])

    ledger._book.decided(decided)
