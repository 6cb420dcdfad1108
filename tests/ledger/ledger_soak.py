"""Workers that share a ledger, die at random moments, and leave notes of what they were told."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from types import FrameType
from typing import Any

from discreet.core.errors import BudgetExceeded, UncommittedCharge
from discreet.core.events import LaplaceLoss, PureLoss
from discreet.core.ledger import Committed, Reservation
from discreet.ledger.sqlite_ledger import SqliteLedger

EVENT = PureLoss(2.0**-12)


@dataclass(frozen=True)
class Tally:
    """What one writer was told, and how long each release took."""

    accepted: int
    seconds: tuple[float, ...]


def charge_until_refused(path: str, epsilon: float, start: Barrier, told: Queue[Tally]) -> None:
    """Reserve and commit until the ledger says no, all writers starting together."""
    ledger = SqliteLedger.open(path)
    seconds: list[float] = []
    start.wait(60)
    while True:
        begun = time.perf_counter()
        try:
            paid = ledger.reserve(LaplaceLoss(1 / epsilon), "a count", request="count")
        except BudgetExceeded:
            break
        assert isinstance(paid, Reservation)
        ledger.commit(paid, b"42")
        seconds.append(time.perf_counter() - begun)
    told.put(Tally(len(seconds), tuple(seconds)))


def result_of(key: str) -> bytes:
    """Noise that differs from draw to draw, so that a replay can be told from a fresh draw."""
    return key.encode() + os.urandom(16)


def note(file: Path, *words: str) -> None:
    """Tell the world, in one write: from here on this was handed out."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, (" ".join(words) + "\n").encode())
    os.close(descriptor)


def noted(file: Path) -> list[list[str]]:
    """All that was told."""
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def release_for_ever(ledger: SqliteLedger, notes: Path, name: str) -> None:
    """Ask one question after another, noting each reservation and each result once it is handed out."""
    for i in range(1_000_000):
        key = f"{name}-{i}"
        paid = ledger.reserve(EVENT, "soak", request=key, key=key)
        assert isinstance(paid, Reservation)
        note(notes, "reserved", key)
        done = ledger.commit(paid, result_of(key))
        note(notes, "released", key, hashlib.sha256(done.result).hexdigest())


def die_at_line(line: int) -> None:
    """Have this process killed when so many lines of the ledger's and the accounting's code have run."""
    left = line

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left
        if not any(room in frame.f_code.co_filename for room in ("discreet/ledger/", "discreet/accounting/")):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def started(path: str, notes: Path, name: str, lines: int | None) -> int:
    """Fork a worker that works until it is killed, by itself after so many lines, or by us; its process."""
    pid = os.fork()
    if pid == 0:
        try:
            ledger = SqliteLedger.open(path)
            if lines is not None:
                die_at_line(lines)
            release_for_ever(ledger, notes, name)
        finally:
            os._exit(1)
    return pid


def soak(path: str, notes: str, rounds: int, seed: int) -> None:
    """In every round, let three workers race and die, and check the ledger against their notes.

    Two die at a random line of the ledger's code, one at a random time, so within SQLite and the system too.
    """
    draw = random.Random(seed)
    for i in range(rounds):
        by_line = [started(path, Path(notes), f"{i}-{j}", draw.randrange(1, 5000)) for j in range(2)]
        by_time = started(path, Path(notes), f"{i}-2", None)
        time.sleep(draw.uniform(0.0, 0.1))
        os.kill(by_time, signal.SIGKILL)
        for pid in (*by_line, by_time):
            _, status = os.waitpid(pid, 0)
            assert os.WIFSIGNALED(status), "a worker ended by itself"
            assert os.WTERMSIG(status) == signal.SIGKILL
        check(path, Path(notes), deaths=3 * (i + 1))


def check(path: str, notes: Path, deaths: int) -> None:
    """Nothing lost, nothing twice, nothing released unpaid."""
    with SqliteLedger.open(path) as ledger:
        report = ledger.verify()
        entries = {entry.key: entry for entry in ledger.entries()}
        told = noted(notes)
        reserved = {words[1] for words in told if words[0] == "reserved"}
        released = {words[1]: words[2] for words in told if words[0] == "released"}
        assert len(entries) == len(ledger.entries())
        assert reserved <= entries.keys()
        assert len(entries) - len(reserved) <= deaths
        assert all(entries[key].committed for key in released)
        assert report.dangling <= deaths
        assert ledger.balance().certified == len(entries) * EVENT.epsilon
        replay_some(ledger, released, [key for key, entry in entries.items() if not entry.committed])


def replay_some(ledger: SqliteLedger, released: dict[str, str], dangling: list[str]) -> None:
    """Retries give what was released, byte for byte, or nothing."""
    before = ledger.head
    for key in list(released)[-3:]:
        again = ledger.reserve(EVENT, "soak", request=key, key=key)
        assert isinstance(again, Committed)
        assert hashlib.sha256(again.result).hexdigest() == released[key]
    for key in dangling[-3:]:
        try:
            ledger.reserve(EVENT, "soak", request=key, key=key)
        except UncommittedCharge:
            continue
        raise AssertionError(f"{key} was charged by a worker that died, and is free again")
    assert ledger.head == before
