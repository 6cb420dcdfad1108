"""How long something takes, for scripts that run in the interpreters of others."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

ROUNDS = 3


def timed(action: Callable[[], Any]) -> dict[str, float]:
    """The median seconds of a few rounds, by the clock and of the processors."""
    walls, cpus = [], []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"wall": statistics.median(walls), "cpu": statistics.median(cpus)}
