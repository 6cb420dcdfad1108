"""Running sums of a stream: their noise over 1,024 updates, and how fast they come.

python -m benchmarks.sequential counters
"""

from __future__ import annotations

import math
import time

import numpy as np

from benchmarks.rows import Row, at_least, at_most, printed
from discreet import Budget
from discreet.mechanisms import Gaussian
from discreet.sequential import DoublingCounter, SquareRootCounter, TreeCounter
from discreet.sequential.counters.counter import Counter

UPDATES, WIDTH = 1024, 1000
BUDGET = Budget(2000.0, 1e-6)
NOISE = Gaussian(1 / math.sqrt(WIDTH))  # all numbers of an update move at once: by sqrt(WIDTH)


def counters() -> dict[str, Counter]:
    return {
        "square root": SquareRootCounter(UPDATES, NOISE, size=WIDTH),
        "tree": TreeCounter(UPDATES, NOISE, size=WIDTH),
        "doubling from 64": DoublingCounter(NOISE, size=WIDTH, first=64),
    }


def measured(counter: Counter) -> tuple[float, float]:
    """The root mean square of all errors, each number being a counter with mu = 1, and numbers a second."""
    values, stream = np.random.default_rng(0).random((UPDATES, WIDTH)), counter.open(BUDGET)
    start = time.process_time()
    found = np.array([stream.update(value) for value in values])
    seconds = time.process_time() - start
    return float(np.sqrt(np.square(found - np.cumsum(values, axis=0)).mean())), UPDATES * WIDTH / seconds


def rows() -> list[Row]:
    found = []
    for name, counter in counters().items():
        error, speed = measured(counter)
        claim = f"{name}: RMSE times mu over {UPDATES} updates"
        found.append(at_most(claim, error, 3.2) if name == "square root" else printed(claim, error))
        found.append(at_least(f"{name}: numbers a second, {WIDTH} in an update", speed, 1e6))
    found.append(printed("independent noise: RMSE times mu", math.sqrt((UPDATES + 1) / 2)))
    return found
