"""Charges of a ledger, by many threads of several processes, whichever version of the library is on the path.

    python discreet_charges.py charge FILE PROCESSES THREADS SECONDS
    python discreet_charges.py fill FILE CHARGES
    python discreet_charges.py open|verify FILE

Prints one JSON object.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from discreet.core.budget import Budget
from discreet.core.events import Composed, Event, GaussianLoss, LaplaceLoss, PureLoss
from discreet.core.neighbors import Neighbors
from discreet.ledger.ledger_view import verify
from discreet.ledger.sqlite_ledger import SqliteLedger

ANALYSTS = {f"analyst {number}": Budget(1e4, 1e-7) for number in range(4)}
STATED = {"neighbors": "add_remove", "unit": {"kind": "record", "column": None, "rows": 1}, "secret": True}


def created(path: str) -> SqliteLedger:
    return SqliteLedger.create(
        path, Budget(1e5, 1e-6), name="load", neighbors=Neighbors.ADD_REMOVE, analysts=dict(ANALYSTS)
    )


def event(number: int) -> Event:
    """Questions of several kinds, some of them never asked before."""
    new = PureLoss(1e-4 * (1 + number % 1000 / 1000))
    plain = (PureLoss(1e-4), LaplaceLoss(9000.0), GaussianLoss(4000.0), Composed((PureLoss(1e-4), PureLoss(2e-4))))
    return new if number % 17 == 0 else plain[number % 4]


def charge(ledger: SqliteLedger, key: str, number: int) -> None:
    who = f"analyst {number % 4}"
    paid: Any = ledger.reserve(event(number), "mean of x", request="mean", key=key, analyst=who)
    ledger.commit(paid, b"1" * 200, STATED)


def work(path: str, process: int, threads: int, seconds: float, start: Any, told: Any) -> None:
    """Charge in many threads until the time is over; all processes begin together."""
    ledger, counts = SqliteLedger.open(path), [0] * threads
    charge(ledger, f"warm {process}", 1)

    def go_on(thread: int) -> None:
        while time.perf_counter() < end:
            charge(ledger, f"{process}-{thread}-{counts[thread]}", thread + counts[thread])
            counts[thread] += 1

    start.wait()
    begun, end = time.process_time(), time.perf_counter() + seconds
    pool = [threading.Thread(target=go_on, args=(thread,)) for thread in range(threads)]
    for one in pool:
        one.start()
    for one in pool:
        one.join()
    told.put((sum(counts), time.process_time() - begun))


def charged(path: str, processes: int, threads: int, seconds: float) -> dict[str, float]:
    created(path).close()
    context = multiprocessing.get_context("fork")
    start, told = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(target=work, args=(path, process, threads, seconds, start, told))
        for process in range(processes)
    ]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    found = [told.get() for _ in workers]
    for worker in workers:
        worker.join()
    count = sum(one for one, _ in found)
    return {"charges": count, "cpu": sum(cpu for _, cpu in found) / count, "wall": time.perf_counter() - begun}


def filled(path: str, charges: int) -> dict[str, float]:
    ledger = created(path)
    with ThreadPoolExecutor(200) as pool:
        list(pool.map(lambda number: charge(ledger, f"k{number}", number), range(charges)))
    return {"entries": verify(path).entries}


def timed(act: Any) -> dict[str, float]:
    """Seconds of processor time, of one act in a process that did nothing like it before."""
    begun = time.process_time()
    act()
    return {"cpu": time.process_time() - begun}


def main(what: str, path: str, *more: str) -> dict[str, float]:
    match what:
        case "charge":
            return charged(path, int(more[0]), int(more[1]), float(more[2]))
        case "fill":
            return filled(path, int(more[0]))
        case "open":
            return timed(lambda: SqliteLedger.open(path).close())
        case "verify":
            return timed(lambda: verify(path))
        case _:
            raise ValueError(what)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
