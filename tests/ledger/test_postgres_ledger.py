"""A ledger in PostgreSQL: what its own ways of failing do, and do not, take away."""

from __future__ import annotations

import copy
import importlib
import pickle
import secrets
from pathlib import Path
from typing import Any

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import LedgerBroken, LedgerError, LedgerMissing, MissingExtra, UncommittedCharge
from discreet.core.events import PureLoss
from discreet.core.ledger import Committed, Reservation
from discreet.ledger import postgres_store
from discreet.ledger.postgres_ledger import PostgresLedger
from tests.ledger.group_soak import crash, persistent
from tests.ledger.places import DatabasePlace

pytest.importorskip("psycopg", reason="psycopg is not installed")
pytestmark = pytest.mark.xdist_group("postgres")
EVENT = PureLoss(2.0**-6)


@pytest.fixture
def place(postgres: str, tmp_path: Path) -> DatabasePlace:
    return DatabasePlace(postgres, str(tmp_path), f'pg "{secrets.token_hex(4)}"'.replace('"', ""))


def paid(ledger: Any, key: str) -> Reservation:
    found = ledger.reserve(EVENT, "count", request="count", key=key)
    assert isinstance(found, Reservation)
    return found


def test_a_crash_of_the_database_takes_back_nothing_that_was_told(place: DatabasePlace) -> None:
    with place.created(Budget(1.0)) as ledger:
        first = ledger.commit(paid(ledger, "a"), b"42")
        crash(place)
        again = persistent(lambda: ledger.reserve(EVENT, "count", request="count", key="a"))
        assert isinstance(again, Committed)
        assert (again.result, again.head) == (b"42", first.head)
        assert persistent(ledger.verify).entries == 3


def test_what_a_crash_took_before_it_was_flushed_was_told_to_nobody(
    place: DatabasePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process has followed the entry already; whether the crash takes it or not, it is no damage."""
    with place.created(Budget(1.0)) as ledger:
        store: Any = ledger._book.store
        ledger.commit(paid(ledger, "a"), b"42")

        def lost() -> None:
            crash(place)
            raise OSError("the connection is lost")

        monkeypatch.setattr(store, "flush", lost)
        with pytest.raises(LedgerError, match="connection is lost"):
            paid(ledger, "b")
        monkeypatch.undo()
        entries = persistent(ledger.verify).entries
        assert entries in (3, 4)
        assert len(ledger.entries()) == entries - 2
        if entries == 4:
            with pytest.raises(UncommittedCharge):
                paid(ledger, "b")
        ledger.commit(paid(ledger, "c"), b"7")
        assert ledger.verify().entries == entries + 2


def test_nothing_is_told_before_it_is_flushed(place: DatabasePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    with place.created(Budget(1.0)) as ledger:
        store: Any = ledger._book.store
        flush, flushed = store.flush, []

        def noted() -> None:
            flush()
            flushed.append(ledger._book.chain.number)

        monkeypatch.setattr(store, "flush", noted)
        charge = paid(ledger, "a")
        assert flushed[-1] == charge.number
        assert flushed[-1] < ledger.commit(charge, b"42").number == flushed[-1]
        with DatabasePlace(place.address, place.folder, place.name, "second").opened(
            expected_head=ledger.head
        ) as other:
            monkeypatch.setattr(other._book.store, "flush", noted)
            before = len(flushed)
            paid(ledger, "b")
            assert len(other.entries()) == 2
            assert len(flushed) == before + 2


def test_a_server_without_an_anchor_has_to_know_a_head(place: DatabasePlace) -> None:
    other = DatabasePlace(place.address, place.folder, place.name, "second")
    with place.created(Budget(1.0)) as ledger:
        head = ledger.commit(paid(ledger, "a"), b"42").head
        with pytest.raises(LedgerBroken, match="is missing"):
            other.opened()
        with pytest.raises(LedgerBroken, match="expected head"):
            other.opened(expected_head="0" * 64)
        assert not other.anchor.path.exists()
        with other.opened(expected_head=head) as joined:
            assert joined.head == head
        with other.opened() as joined:
            assert joined.balance() == ledger.balance()


def test_an_older_database_is_noticed_by_a_server_that_saw_more(place: DatabasePlace) -> None:
    with place.created(Budget(1.0)) as ledger:
        ledger.commit(paid(ledger, "a"), b"42")
    place.edited("delete from result", "delete from entry where number > 1")
    with pytest.raises(LedgerBroken, match="lacks the anchored entry 2"):
        place.opened()


def test_no_ledger_of_this_name_is_never_a_fresh_budget(place: DatabasePlace) -> None:
    with pytest.raises(LedgerMissing, match="not a fresh budget"):
        place.opened(expected_head="0" * 64)
    with pytest.raises(LedgerError, match="cannot be used"):
        PostgresLedger.open("postgresql://nobody@/none?host=/nowhere", account="a", anchor=place.anchor.path)


def test_a_ledger_of_a_newer_format_is_refused(place: DatabasePlace) -> None:
    place.created(Budget(1.0)).close()
    place.edited("update format set version = 2")
    with pytest.raises(LedgerBroken, match="format"):
        place.opened()


def test_a_server_that_holds_the_lock_keeps_others_waiting_for_a_limited_time(
    place: DatabasePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "PATIENCE", 1)
    with place.created(Budget(1.0)) as ledger, place.connected() as held:
        held.execute(f"select pg_advisory_xact_lock({postgres_store.CHAIN}, 'entry'::regclass::oid::integer)")
        with pytest.raises(LedgerError, match="has had it locked"):
            paid(ledger, "a")
        held.rollback()
        paid(ledger, "a")


def test_a_copy_is_the_same_account_and_its_address_is_not_pickled(place: DatabasePlace) -> None:
    with place.created(Budget(1.0)) as ledger:
        assert copy.copy(ledger) is copy.deepcopy(ledger) is ledger
        with pytest.raises(LedgerError, match="password"):
            pickle.dumps(ledger)
        assert place.address not in repr(ledger)


def test_without_the_driver_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"discreet\[postgres-ledger\]"):
        PostgresLedger.open("postgresql://", account="a", anchor=tmp_path / "a")
