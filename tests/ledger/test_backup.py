"""A copy of a ledger is whole, and is put back only where nothing newer is known."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import LedgerBroken, LedgerError
from discreet.core.events import PureLoss
from discreet.core.ledger import Reservation
from discreet.core.neighbors import Neighbors
from discreet.ledger.backup import back_up, restore
from discreet.ledger.ledger_view import verify
from discreet.ledger.sqlite_ledger import SqliteLedger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "survey"


@pytest.fixture
def ledger(path: Path) -> SqliteLedger:
    return SqliteLedger.create(path, Budget(1.0), name="survey", neighbors=Neighbors.ADD_REMOVE)


def charged(ledger: SqliteLedger, key: str) -> str:
    paid = ledger.reserve(PureLoss(2.0**-10), "count", request="count", key=key)
    assert isinstance(paid, Reservation)
    return ledger.commit(paid, b"7").head


def lost(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def test_a_backup_that_is_as_new_as_what_was_lost_is_restored(ledger: SqliteLedger, path: Path, tmp_path: Path) -> None:
    head = charged(ledger, "a")
    ledger.keep(b"a large table")
    assert back_up(path, tmp_path / "copy") == head
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o600
    ledger.close()
    lost(path, "", "-wal", "-shm")
    (tmp_path / "survey.kept").rename(tmp_path / "gone")
    assert restore(tmp_path / "copy", path, [head]).head == head
    with SqliteLedger.open(path, head) as again:
        charged(again, "b")
        assert [entry.key for entry in again.entries()] == ["a", "b"]
    assert verify(path).entries == 5
    assert len(list((tmp_path / "survey.kept").iterdir())) == 1


def test_an_older_one_is_refused_by_the_head_that_was_left(ledger: SqliteLedger, path: Path, tmp_path: Path) -> None:
    charged(ledger, "a")
    back_up(path, tmp_path / "copy")
    charged(ledger, "b")
    ledger.close()
    lost(path, "", "-wal", "-shm")
    with pytest.raises(LedgerBroken, match="ends at entry 2 and lacks the head"):
        restore(tmp_path / "copy", path)
    assert not path.exists()


def test_an_older_one_is_refused_by_a_head_kept_elsewhere(ledger: SqliteLedger, path: Path, tmp_path: Path) -> None:
    charged(ledger, "a")
    back_up(path, tmp_path / "copy")
    newer = charged(ledger, "b")
    ledger.close()
    lost(path, "", "-wal", "-shm", ".head")
    with pytest.raises(LedgerBroken, match="newer"):
        restore(tmp_path / "copy", path, [newer])
    assert not path.exists()


def test_nothing_that_is_there_is_overwritten(ledger: SqliteLedger, path: Path, tmp_path: Path) -> None:
    charged(ledger, "a")
    back_up(path, tmp_path / "copy")
    for act in (lambda: back_up(path, tmp_path / "copy"), lambda: restore(tmp_path / "copy", path)):
        with pytest.raises(LedgerError, match="is there already"):
            act()
    assert verify(path).entries == 3


def test_a_damaged_backup_is_not_restored(ledger: SqliteLedger, path: Path, tmp_path: Path) -> None:
    charged(ledger, "a")
    back_up(path, tmp_path / "copy")
    ledger.close()
    lost(path, "", "-wal", "-shm", ".head")
    content = (tmp_path / "copy").read_bytes()
    (tmp_path / "copy").write_bytes(content.replace(b'"purpose":"count"', b'"purpose":"mount"'))
    with pytest.raises(LedgerBroken):
        restore(tmp_path / "copy", path)
    assert not path.exists()


def test_a_backup_is_made_while_others_charge(ledger: SqliteLedger, path: Path, tmp_path: Path) -> None:
    go_on = threading.Event()

    def charge() -> None:
        for number in range(10_000):
            if go_on.is_set():
                break
            charged(ledger, f"k{number}")

    thread = threading.Thread(target=charge)
    thread.start()
    heads = [back_up(path, tmp_path / f"copy{number}") for number in range(3)]
    go_on.set()
    thread.join()
    for number, head in enumerate(heads):
        assert verify(tmp_path / f"copy{number}").head == head
        SqliteLedger.open(path, head).close()
