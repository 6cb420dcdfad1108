"""What isolation costs: many blocks of a short function, beside the bare function on as many processors."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.rows import Row, at_least, at_most
from discreet.trust.isolation.isolated import isolated, processors

BLOCKS, SHORT = 1000, 0.005
TIMES, FOUND = 3.0, 0.95  # of the bare function's time; of all blocks, since machines pause now and then
SPARE = 0.2  # of that time, for the server to start in


def short(block: np.ndarray) -> float:
    """Five milliseconds of work."""
    end = time.perf_counter() + SHORT
    total = 0.0
    while time.perf_counter() < end:
        total += float(block.sum())
    return total


def rows() -> Iterator[Row]:
    """The time of all blocks, with everything, and how many were answered in it."""
    blocks = [np.ones((100, 3))] * BLOCKS
    start = time.perf_counter()
    for block in blocks:
        short(block)
    bare = (time.perf_counter() - start) / processors()
    start = time.perf_counter()
    found = isolated(short, blocks, 1, (TIMES - SPARE) * bare)
    ratio = (time.perf_counter() - start) / bare
    what = f"{BLOCKS} isolated blocks of a function of 5 ms, on {processors()} processors"
    yield at_most(f"{what}: time over the bare function's", ratio, TIMES)
    yield at_least(f"{what}: share that is answered", sum(one is not None for one in found) / BLOCKS, FOUND)
