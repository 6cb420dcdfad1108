"""A lock among processes: what is done while another one has it, and what becomes of it where waiting ends."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import LedgerBroken
from discreet.core.events import PureLoss
from discreet.core.neighbors import Neighbors
from discreet.ledger import file_lock
from discreet.ledger.anchor import AnchoredHead
from discreet.ledger.file_lock import _Waiter, locked
from discreet.ledger.sqlite_ledger import SqliteLedger

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a lock of Windows is not asked whether it is free")


def is_free(path: Path) -> bool:
    """Whether somebody could have the lock, once all who waited for it are through."""
    for thread in threading.enumerate():
        if thread.name == "file lock":
            thread.join(60)
    with open(path, "r+b") as file:
        return file_lock._try(file.fileno())


def test_what_is_done_meanwhile_is_done_until_the_lock_is_there(tmp_path: Path) -> None:
    path, looked, free = tmp_path / "lock", threading.Semaphore(0), threading.Event()

    def wait() -> int:
        with locked(path, looked.release):
            assert free.is_set()
            return looked._value

    with ThreadPoolExecutor(1) as threads:
        with locked(path):
            waiting = threads.submit(wait)
            assert all(looked.acquire(timeout=60) for _ in range(3))
            free.set()
        left = waiting.result(60)
    assert looked._value == left  # it is over
    with locked(path, looked.release):
        assert looked._value == left  # nobody waited


@pytest.mark.parametrize("why", [KeyboardInterrupt(), LedgerBroken("ledger", "it is gone", "Restore it.")])
def test_where_waiting_is_interrupted_the_lock_is_nobodys_when_it_comes(tmp_path: Path, why: BaseException) -> None:
    path, looks = tmp_path / "lock", Mock(side_effect=[None, why])
    with locked(path), pytest.raises(type(why)), locked(path, looks):
        pass
    assert looks.call_count == 2
    assert is_free(path)


def test_where_waiting_is_interrupted_as_the_lock_comes_it_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with open(path, "r+b") as file:
        descriptor = file_lock.os.dup(file.fileno())
    waiter = _Waiter(descriptor)  # nobody has it: it comes at once
    assert waiter._got.wait(60)
    waiter._got = Mock(wraps=waiter._got, wait=Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        waiter.granted(60.0, None)
    assert is_free(path)


def test_who_waits_to_write_follows_what_is_written_meanwhile(tmp_path: Path) -> None:
    path, event = tmp_path / "shared.ledger", PureLoss(2.0**-6)
    one = SqliteLedger.create(path, Budget(1.0), name="shared", neighbors=Neighbors.ADD_REMOVE)
    with SqliteLedger.open(path) as other:
        other.reserve(event, "before", request="before")
        holds, anchor, followed = threading.Event(), one._book.store.anchor, other._book.chain

        def late(mark: AnchoredHead) -> None:
            """The entry is written, and the lock is still held."""
            holds.set()
            end = time.monotonic() + 60
            while followed.number < mark.number:
                assert time.monotonic() < end, "it was not followed"
                time.sleep(0.001)
            anchor.advance(mark)

        one._book.store.anchor = Mock(wraps=anchor, advance=late)
        with ThreadPoolExecutor(2) as threads:
            writing = threads.submit(one.reserve, event, "here", request="here")
            assert holds.wait(60)
            after = threads.submit(other.reserve, event, "after", request="after")
            assert (writing.result(60).number, after.result(60).number) == (2, 3)
        assert other.verify().entries == 4
    one.close()
