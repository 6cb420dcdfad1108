"""Cells of a table of learners: a score that is repeated with fresh noise, beside a goal or what a peer reaches."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.rows import Row

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
LONG = ("1e5", "adult")  # data whose fits take longest: first, so that none is waited for at the end
PEERS = Path(__file__).parent / "peers" / "learners.csv"


@dataclass(frozen=True)
class Figure:
    """A mean of scores, and its standard error."""

    mean: float
    error: float = 0.0

    @classmethod
    def of(cls, scores: Sequence[float]) -> Figure:
        """From independent scores."""
        error = float(np.std(scores, ddof=1)) / math.sqrt(len(scores)) if len(scores) > 1 else 0.0
        return cls(float(np.mean(scores)), error)


@dataclass(frozen=True)
class Cell:
    """A claim about a mean score.

    Parameters
    ----------
    claim : str
        What is measured.
    score : callable
        The score of one fit, by the seed of the split of the records. Noise is fresh every time. A process of its own
        may call it, so it is a function of a module, or a partial application of one.
    goal : Figure, float or None
        What a peer reaches, which counts as reached within one standard error of the difference; or a number that
        was promised, which the mean itself must reach. None for a score that nothing was promised about.
    less : bool
        Whether a smaller score is the better.
    """

    claim: str
    score: Callable[[int], float]
    goal: Figure | float | None
    less: bool = False

    def row(self, scores: Sequence[float]) -> Row:
        """What was measured, and whether it holds."""
        ours = Figure.of(scores)
        measured = f"{ours.mean:.4f} ± {ours.error:.4f}"
        if self.goal is None:
            return Row(self.claim, measured, "printed", True)
        sign, word = (-1, "<=") if self.less else (1, ">=")
        if isinstance(self.goal, Figure):
            slack = math.hypot(ours.error, self.goal.error)
            goal = f"{word} {self.goal.mean:.4f} within {slack:.4f}"
            return Row(self.claim, measured, goal, sign * (ours.mean - self.goal.mean) >= -slack)
        return Row(self.claim, measured, f"{word} {self.goal:g}", sign * (ours.mean - self.goal) >= 0)


def rows_of(cells: Sequence[Cell], seeds: int, jobs: int) -> list[Row]:
    """A row for each cell, from so many scores of each, computed in so many processes; each is told as it ends."""
    if jobs == 1:
        return [_told(cell.row([cell.score(seed) for seed in range(seeds)])) for cell in cells]
    rows: dict[int, Row] = {}
    scores: dict[int, list[float]] = {place: [] for place in range(len(cells))}
    order = sorted(scores, key=lambda place: not any(word in cells[place].claim for word in LONG))
    with ProcessPoolExecutor(jobs) as pool:
        places = {pool.submit(cells[place].score, seed): place for place in order for seed in range(seeds)}
        for done in as_completed(places):
            place = places[done]
            scores[place].append(done.result())
            if len(scores[place]) == seeds:
                rows[place] = _told(cells[place].row(scores[place]))
    return [rows[place] for place in range(len(cells))]


def _told(row: Row) -> Row:
    """The row itself, which is printed beside the table: a run that is cut off has told what it knows."""
    print(row.line(), file=sys.stderr, flush=True)
    return row


def peer(learner: str, data: str, epsilon: float, *, less: bool = False) -> Figure | None:
    """What a peer reaches; the best of its settings, where several were measured. None where it gave no answer."""
    found = [
        figure for name, *where, figure in _figures() if where == [data, epsilon] and name.split(" C=")[0] == learner
    ]
    return (min if less else max)(found, key=lambda figure: figure.mean, default=None)


@cache
def _figures() -> list[tuple[str, str, float, Figure]]:
    """The recorded figures of peers; one without a standard deviation counts as exact."""
    with PEERS.open(newline="") as file:
        return [
            (
                row["learner"],
                row["data"],
                float(row["epsilon"]),
                Figure(float(row["mean"]), float(row["stddev"] or 0.0) / math.sqrt(int(row["seeds"]) - 1)),
            )
            for row in csv.DictReader(file)
        ]
