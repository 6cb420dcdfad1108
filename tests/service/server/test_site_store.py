"""Questions that are written down together: each is found as it was asked first, whoever asks, whatever fails."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from discreet.service.server import site_store
from discreet.service.server.site_store import AskedEntry, NewEntry, SiteStore

ONE = AskedEntry("one", "ann", "patients", "k", '"count"', 0.1, 0.0, "asked", "", "2026-01-01")


@pytest.fixture
def store(tmp_path: Path) -> SiteStore:
    return SiteStore(tmp_path / "state")


def question(number: int, key: int) -> AskedEntry:
    return replace(ONE, id=f"id{number}", key=f"k{key}")


def test_a_key_that_many_use_at_once_belongs_to_one_question(store: SiteStore) -> None:
    together = threading.Barrier(16)

    def add(number: int) -> AskedEntry:
        together.wait()
        return store.add_asked(question(number, number % 5))

    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(add, range(160)))
    kept = {one.key: one for one in store.asked()}
    assert [one.key for one in found] == [f"k{number % 5}" for number in range(160)]
    assert found == [kept[one.key] for one in found]
    assert len(kept) == 5
    store.close()


def test_whoever_has_the_turn_writes_down_what_others_asked(store: SiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_store, "MOST_ROWS", 4)
    store.add_asked(question(0, 3))
    others = [NewEntry(question(number, number)) for number in range(1, 10)]
    store._new.extend(others)
    assert store.add_asked(question(10, 9)).id == "id9"
    assert [one.found and one.found.id for one in others] == ["id1", "id2", "id0", *(f"id{n}" for n in range(4, 10))]
    assert (len(store.asked()), len(store._new)) == (9, 0)
    store.close()


@pytest.mark.parametrize("why", [sqlite3.OperationalError("database or disk is full"), MemoryError()])
def test_what_could_not_be_written_down_is_tried_again_by_whoever_asked_it(store: SiteStore, why: Exception) -> None:
    whole, store._db = store._db, Mock()
    store._db.execute.side_effect = why
    other = NewEntry(question(1, 1))
    store._new.append(other)
    with pytest.raises(type(why)):
        store.add_asked(question(2, 2))
    assert [*store._new] == [other]
    store._db = whole
    assert store.add_asked(question(3, 3)).id == "id3"
    assert other.found == other.entry
    assert [one.id for one in store.asked()] == ["id3", "id1"]
    store.close()


def test_what_somebody_else_has_written_down_is_not_written_again(store: SiteStore) -> None:
    held, asked = threading.Event(), Mock(wraps=store._write_new)
    store._write_new = asked  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as threads:
        with store._mutex:
            found = [threads.submit(store.add_asked, question(number, number)) for number in range(2)]
            while len(store._new) < 2:
                held.wait(0.01)
        assert {one.result().id for one in found} == {"id0", "id1"}
    assert asked.call_count == 1
    store.close()
