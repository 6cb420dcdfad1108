"""What isolation costs: many blocks of a short function, beside the bare function in as many processes.

Once on the machine as it is, and once beside four processes that are always busy.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.rows import Row, at_least, at_most
from discreet.trust.isolation.isolated import isolated, processors

BLOCKS, SHORT = 1000, 0.005
TIMES, FOUND = 3.0, 0.95  # of the bare function's time; of all blocks, since machines pause now and then
SPARE = 1.4  # of that time, for the server to start in and for what is between two blocks: two to six milliseconds
BUSY = 4


def short(block: np.ndarray) -> float:
    """Five milliseconds of work, by the clock of its thread.

    That of the process moves in steps of four milliseconds where processor time is limited, as it is for a block.
    """
    end = time.thread_time() + SHORT
    total = 0.0
    while time.thread_time() < end:
        total += float(block.sum())
    return total


def _bare(count: int) -> None:
    for _ in range(count):
        short(np.ones((100, 3)))


@contextmanager
def beside(busy: int) -> Iterator[None]:
    """Other processes that are always busy."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


def rows() -> Iterator[Row]:
    """The time of all blocks, with everything, and how many were answered in it."""
    for busy in (0, BUSY):
        with beside(busy):
            start = time.perf_counter()
            workers = [
                multiprocessing.Process(target=_bare, args=(BLOCKS // processors(),)) for _ in range(processors())
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            bare = time.perf_counter() - start
            start = time.perf_counter()
            found = isolated(short, [np.ones((100, 3))] * BLOCKS, 1, (TIMES - SPARE) * BLOCKS * SHORT / processors())
            ratio = (time.perf_counter() - start) / bare
        load = f" beside {busy} busy processes" if busy else ""
        what = f"{BLOCKS} isolated blocks of a function of 5 ms, on {processors()} processors{load}"
        yield at_most(f"{what}: time over the bare function's", ratio, TIMES)
        yield at_least(f"{what}: share that is answered", sum(one is not None for one in found) / BLOCKS, FOUND)
