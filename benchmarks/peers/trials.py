"""How far releases are off, and how long they take, for scripts that run in the interpreters of others."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.peers.columns import ColumnQuestion, cells, timed_cells
from benchmarks.peers.rounds import timed

FEWEST, MOST, SECONDS = 50, 10_000, 0.3  # repetitions of a cell, and what they take, about
RESAMPLED = 100
LONG_ENOUGH = 0.1  # seconds that a round of the clock takes

Releases = Callable[[int], Any]  # so many releases, one in each row


def error(releases: Releases, exact: np.ndarray) -> dict[str, float]:
    """The root of the mean squared error, the standard error of its logarithm by the bootstrap, and how many draws."""
    squares: list[np.ndarray] = []
    start, chunk = time.process_time(), FEWEST
    while (done := sum(map(len, squares))) < MOST and chunk:
        found = np.asarray(releases(chunk), dtype=np.float64).reshape(chunk, -1)
        squares.append(np.square(found - exact).mean(axis=1))
        spent = time.process_time() - start
        chunk = min(MOST // 10, int((SECONDS - spent) / spent * (done + chunk)) // 2) if spent < SECONDS else 0
    whole, rng = np.concatenate(squares), np.random.default_rng(0)
    means = [rng.choice(whole, len(whole)).mean() for _ in range(RESAMPLED)]
    return {"rmse": math.sqrt(whole.mean()), "log_error": float(np.std(np.log(means))) / 2, "draws": done}


def seconds(job: Callable[[], Any]) -> float:
    """Seconds of the processor that a job takes, warm."""
    job()
    start = time.process_time()
    job()
    times = max(1, math.ceil(LONG_ENOUGH / max(time.process_time() - start, 1e-6)))
    return timed(lambda: [job() for _ in range(times)])["cpu"] / times


def main(
    who: str, releases: Callable[[ColumnQuestion], Releases], job: Callable[[ColumnQuestion], Callable[[], Any]]
) -> None:
    """Print as JSON what the argument says: `errors` or `seconds`."""
    match sys.argv[1:]:
        case ["errors"]:
            found = [{**asdict(asked), **error(releases(asked), asked.exact())} for asked in cells(who)]
        case ["seconds"]:
            found = [{**asdict(asked), "seconds": seconds(job(asked))} for asked in timed_cells(who)]
        case _:
            raise SystemExit("say errors or seconds")
    print(json.dumps(found))
