from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, LedgerError
from discreet.core.events import LaplaceLoss, PureLoss
from discreet.core.ledger import Committed, Reservation
from discreet.core.neighbors import Neighbors
from discreet.ledger import file_lock
from discreet.ledger.ledger_file import LedgerFile
from discreet.ledger.sqlite_ledger import SqliteLedger
from tests.ledger import ledger_soak

spawn = multiprocessing.get_context("spawn")
fresh: Any = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
fresh.set_forkserver_preload(["__main__", __name__])  # what all fresh processes need is loaded once
forks = pytest.mark.skipif(sys.platform == "win32", reason="no fork")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "shared.ledger")


def created(path: str, epsilon: float) -> SqliteLedger:
    return SqliteLedger.create(path, Budget(epsilon), name="shared", neighbors=Neighbors.ADD_REMOVE)


def tallies(path: str, epsilon: float) -> list[ledger_soak.Tally]:
    """What eight processes were told that charged the same ledger until it refused."""
    start = fresh.Barrier(8)
    told: Queue[ledger_soak.Tally] = fresh.Queue()
    arguments = (path, epsilon, start, told)
    writers = [fresh.Process(target=ledger_soak.charge_until_refused, args=arguments) for _ in range(8)]
    for writer in writers:
        writer.start()
    results = [told.get(timeout=120) for _ in writers]
    for writer in writers:
        writer.join()
    return results


def test_eight_processes_never_overspend_by_a_single_entry(path: str) -> None:
    """The cap has room for exactly 200 charges of 1/256, and a bit."""
    created(path, 200.5 / 256).close()
    results = tallies(path, 1 / 256)
    with SqliteLedger.open(path) as ledger:
        assert sum(tally.accepted for tally in results) == len(ledger.entries()) == 200
        assert ledger.balance().remaining == 0.5 / 256
        assert ledger.verify().dangling == 0


@pytest.mark.slow
def test_eight_writers_take_turns(path: str) -> None:
    """Without the lock, SQLite's back-off makes the unluckiest wait 40 to 120 medians; with it, about two."""
    created(path, 200.5 / 256).close()
    seconds = sorted(second for tally in tallies(path, 1 / 256) for second in tally.seconds)
    assert seconds[-3] < 15 * seconds[100]


def test_sixty_four_threads_asking_a_bit_more_than_a_64th_cannot_all_be_paid(path: str) -> None:
    ledger = created(path, 1.0)
    event = PureLoss(1 / 64 + 2.0**-40)
    start = threading.Barrier(64)

    def ask(_: int) -> bool:
        start.wait()
        try:
            ledger.reserve(event, "race", request="race")
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(64) as pool:
        assert sum(pool.map(ask, range(64))) == 63
    assert ledger.balance().certified == 63 * event.epsilon
    assert ledger.verify().entries == 64


def test_one_key_from_many_threads_is_charged_once(path: str) -> None:
    first, second = created(path, 1.0), SqliteLedger.open(path)
    start = threading.Barrier(16)

    def ask(i: int) -> type[object]:
        start.wait()
        try:
            return type((first, second)[i % 2].reserve(PureLoss(0.5), "race", request="race", key="k"))
        except LedgerError as refusal:
            return type(refusal)

    with ThreadPoolExecutor(16) as pool:
        kinds = [kind.__name__ for kind in pool.map(ask, range(16))]
    assert sorted(kinds) == ["Reservation", *["UncommittedCharge"] * 15]
    assert first.balance().certified == 0.5


@forks
def test_a_forked_child_opens_the_ledger_anew_and_both_see_every_charge(path: str) -> None:
    """In a process of its own, so that nothing else lives where it forks."""
    created(path, 1.0).close()
    process = fresh.Process(target=charge_in_parent_and_children, args=(path,))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    ledger = SqliteLedger.open(path)
    assert ledger.verify().entries == 1 + 2 + 3 * 2
    assert ledger.balance().certified == 4 / 16


def charge_in_parent_and_children(path: str) -> None:
    ledger = SqliteLedger.open(path)

    def charge() -> None:
        paid = ledger.reserve(LaplaceLoss(16.0), "fork", request="fork")
        assert isinstance(paid, Reservation)
        ledger.commit(paid, b"")

    charge()
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            try:
                charge()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
    assert ledger.balance().certified == 4 / 16


@forks
def test_a_ledger_carried_over_a_fork_that_python_did_not_see_is_refused(path: str) -> None:
    ledger = created(path, 1.0)
    ledger.balance()
    file = ledger._book.store
    assert isinstance(file, LedgerFile)
    file._identity = (os.getpid() + 1, *file._identity[1:])
    with pytest.raises(LedgerError, match="forked without Python's knowledge"):
        ledger.reserve(PureLoss(0.5), "q", request="q")


@forks
def test_a_writer_killed_while_it_holds_the_lock_does_not_block_the_others(path: str) -> None:
    ledger = created(path, 1.0)
    process = fresh.Process(target=die_while_locked, args=(path,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    paid = ledger.reserve(PureLoss(0.5), "after", request="after")
    assert isinstance(paid, Reservation)
    assert isinstance(ledger.commit(paid, b"42"), Committed)
    assert ledger.verify().entries == 3


def die_while_locked(path: str) -> None:
    def decided(page: Any) -> None:
        page.add("expire", page.chain.head, account=None, reason="none")
        os.kill(os.getpid(), signal.SIGKILL)

    SqliteLedger.open(path)._book.decided(decided)


@forks
def test_a_writer_stopped_while_it_holds_the_lock_blocks_the_others_for_a_limited_time(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = created(path, 1.0)
    process = spawn.Process(target=stop_while_locked, args=(path,))
    process.start()
    assert process.pid is not None
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    monkeypatch.setattr(file_lock, "PATIENCE", 0.2)
    with pytest.raises(LedgerError, match=f"process {process.pid} has held it.*Nothing was handed out"):
        ledger.reserve(PureLoss(0.5), "meanwhile", request="meanwhile")
    assert ledger.balance().certified == 0
    monkeypatch.undo()
    os.kill(process.pid, signal.SIGCONT)
    process.join()
    assert isinstance(ledger.reserve(PureLoss(0.5), "after", request="after"), Reservation)
    assert [entry.purpose for entry in ledger.entries()] == ["after"]


def stop_while_locked(path: str) -> None:
    SqliteLedger.open(path)._book.decided(lambda page: os.kill(os.getpid(), signal.SIGSTOP))


def soaked(path: str, rounds: int, seed: int) -> int:
    """How many charges were cut off between their entry and their answer."""
    created(path, 1000.0).close()
    process = fresh.Process(target=ledger_soak.soak, args=(path, f"{path}.notes", rounds, seed))
    process.start()
    process.join()
    assert process.exitcode == 0
    told = [words[0] for words in ledger_soak.noted(Path(f"{path}.notes"))]
    assert told.count("released") > 2 * rounds
    return told.count("reserved") - told.count("released")


@forks
def test_fifteen_kills_lose_and_duplicate_nothing(path: str) -> None:
    assert soaked(path, rounds=5, seed=1) >= 0


@forks
@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_two_hundred_kills_lose_and_duplicate_nothing(path: str, seed: int) -> None:
    assert soaked(path, rounds=67, seed=seed) > 0


def test_the_log_outlives_other_processes_though_this_one_has_the_file_open_twice(path: str) -> None:
    """Closing a file that was only read would take SQLite's locks away, and the next to go would remove the log."""
    first = created(path, 1.0)
    first.reserve(PureLoss(0.25), "q", request="q")
    second = SqliteLedger.open(path)
    second.balance()
    code = "import sys; from discreet.ledger.sqlite_ledger import SqliteLedger; SqliteLedger.open(sys.argv[1]).close()"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, path], check=True)
        assert Path(f"{path}-wal").exists()
        first.reserve(PureLoss(0.25), "q", request="q")
    assert second.verify().entries == 4
