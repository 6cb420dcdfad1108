"""Workers with many threads that share a ledger and are killed; what they were told must be in it, once."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, LedgerError, UncommittedCharge
from discreet.core.events import PureLoss
from discreet.core.ledger import Committed
from discreet.ledger.stored_ledger import StoredLedger
from tests.ledger.ledger_soak import note, noted
from tests.ledger.places import DatabasePlace, FilePlace, Place

EVENT = PureLoss(2.0**-12)
THREADS, WORKERS = 12, 3


@dataclass(frozen=True)
class Found:
    """What a soak found."""

    kills: int
    charges: int
    released: int
    lost: int
    twice: int
    over: int

    def __add__(self, other: Found) -> Found:
        return Found(*(getattr(self, name) + getattr(other, name) for name in vars(self)))


def work(place: Place, notes: str, name: str) -> None:
    """Charge in many threads until killed."""
    ledger = persistent(place.opened)
    for number in range(THREADS):
        threading.Thread(target=charge_on, args=(ledger, Path(notes), f"{name}-{number}")).start()


def charge_on(ledger: StoredLedger, notes: Path, name: str) -> None:
    """Ask one question after another, noting what was told; a store that fails is asked again."""
    for number in range(1_000_000):
        key = f"{name}-{number}"
        paid = persistent(lambda key=key: ledger.reserve(EVENT, "soak", request=key, key=key))
        if paid is None:
            time.sleep(0.01)
            continue
        note(notes, "reserved", key, str(paid.number))
        result = os.urandom(16) + key.encode()
        done = persistent(lambda paid=paid, result=result: ledger.commit(paid, result))
        note(notes, "released", key, hashlib.sha256(done.result).hexdigest())


def persistent(ask: Any) -> Any:
    """What the ledger says in the end; None where it refuses, or where whether it was charged was not told."""
    while True:
        try:
            return ask()
        except (BudgetExceeded, UncommittedCharge):
            return None
        except LedgerError as why:
            if "cannot be" not in str(why) and "locked" not in str(why):
                raise
            time.sleep(0.02)


def soak(place: Place, kills: int, seed: int, *, room: int = 1500) -> Found:
    """Kill workers at random moments, begin new ones, and hold the ledger against what they were told."""
    draw, notes = random.Random(seed), Path(place.folder) / f"{place.name}.notes"
    place.created(Budget((room + 0.5) * EVENT.epsilon)).close()
    alive = [started(place, notes, f"w{number}") for number in range(WORKERS)]
    for kill in range(kills):
        time.sleep(draw.uniform(0.005, 0.4 if isinstance(place, DatabasePlace) else 0.12))
        if isinstance(place, DatabasePlace) and kill % 4 == 3:
            crash(place)
        else:
            ended(alive.pop(draw.randrange(WORKERS)))
            alive.append(started(place, notes, f"w{WORKERS + kill}"))
    for process in alive:
        ended(process)
    return checked(place, notes, kills + WORKERS, room)


def started(place: Place, notes: Path, name: str) -> int:
    """A fork that works until it is killed."""
    process = os.fork()
    if process == 0:
        try:
            work(place, str(notes), name)
            threading.Event().wait()
        finally:
            os._exit(1)
    return process


def ended(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status), "a worker ended by itself"


def crash(place: DatabasePlace) -> None:
    """Kill a process of the database: it takes all others down and recovers from its log, and is there again."""
    failures = importlib.import_module("psycopg").Error
    with contextlib.suppress(failures), place.connected() as db:
        (process,) = db.execute("select pg_backend_pid()").fetchone()
        os.kill(process, signal.SIGKILL)
        db.execute("select 1")
    for _ in range(1000):
        with contextlib.suppress(failures), place.connected():
            return
        time.sleep(0.05)
    raise TimeoutError("the database did not recover")


def checked(place: Place, notes: Path, kills: int, room: int) -> Found:
    """Count what was lost, charged or handed out twice, or charged beyond the cap."""
    ledger = persistent(place.opened)
    report, entries = ledger.verify(), ledger.entries()
    assert report.entries == 1 + len(entries) + sum(entry.committed for entry in entries)
    held = {entry.key: entry for entry in entries}
    told = noted(notes)
    reserved = {words[1]: int(words[2]) for words in told if words[0] == "reserved"}
    released = {words[1]: words[2] for words in told if words[0] == "released"}
    lost = sum(key not in held or held[key].number != number for key, number in reserved.items())
    lost += sum(key not in held or not held[key].committed for key in released)
    twice = len(entries) - len(held)
    twice += sum(count > 1 for count in Counter((words[0], words[1]) for words in told).values())
    for key in random.Random(1).sample(sorted(released), min(20, len(released))):
        again = ledger.reserve(EVENT, "soak", request=key, key=key)
        twice += not isinstance(again, Committed) or hashlib.sha256(again.result).hexdigest() != released[key]
    ledger.close()
    return Found(kills, len(entries), len(released), lost, twice, max(0, len(entries) - room))


def main(kills: int, folder: str) -> None:
    """Many kills, fifty to a ledger: `python -m tests.ledger.group_soak 5000 FOLDER`."""
    total, begun = Found(0, 0, 0, 0, 0, 0), time.time()
    for number in range(-(-kills // 50)):
        place = FilePlace(folder, f"soak{number}")
        total += soak(place, 50, number, room=(1500, 4000)[number % 2])
        for path in Path(folder).glob(f"soak{number}*"):
            path.unlink()
        print(f"{time.time() - begun:.0f} s: {total}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
