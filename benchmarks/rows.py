"""What a benchmark prints and writes: one row for each figure that was promised."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One claim and what was measured. A row that does not hold stays in the table."""

    claim: str
    measured: float | str
    goal: str
    holds: bool

    def line(self, width: int = 0) -> str:
        """What is printed of it, where the longest claim has so many letters."""
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return f"{self.claim:<{width}}  {self.measured!s:>14}  {self.goal:>12}  {verdict}"


def at_least(claim: str, measured: float, goal: float) -> Row:
    return Row(claim, round(measured, 4), f">= {goal:g}", bool(measured >= goal))


def at_most(claim: str, measured: float, goal: float) -> Row:
    return Row(claim, round(measured, 6), f"<= {goal:g}", bool(measured <= goal))


def printed(claim: str, measured: float | str) -> Row:
    """A figure that nothing was promised about."""
    return Row(claim, round(measured, 4) if isinstance(measured, float) else measured, "printed", True)


def missing(claim: str) -> Row:
    """A figure that could not be taken, which is not passed over."""
    return Row(claim, "missing", "measured", False)


def cpu_seconds(*jobs: Callable[[], Any], rounds: int = 7) -> list[float]:
    """The median CPU time of each job, taken in turns so that a busy machine hits all alike.

    Each is done once before, to be warm; where there is one round, of long jobs, that is it.
    """
    spent: list[list[float]] = [[] for _ in jobs]
    for job in jobs if rounds > 1 else ():
        job()
    for _ in range(rounds):
        for place, job in enumerate(jobs):
            start = time.process_time()
            job()
            spent[place].append(time.process_time() - start)
    return [statistics.median(seconds) for seconds in spent]


def report(name: str, rows: list[Row]) -> None:
    """Print the table and write it to build/bench."""
    width = max(len(row.claim) for row in rows)
    for row in rows:
        print(row.line(width))
    folder = Path("build/bench")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    print(f"{sum(row.holds for row in rows)} of {len(rows)} hold; written to {folder / f'{name}.json'}")
