"""Statistics of a column beside diffprivlib's `tools` and OpenDP, online queries beside independent noise, isolated
functions beside bare ones, sketches beside noisy covariances.

    python -m benchmarks.statistics [part ...]

Each library runs in an interpreter of its own (`peers/*_statistics.py`), on the same values, bounds and budgets. For
every cell of the comparison the root mean squared error of ours is divided by theirs. Where both are the same law the
ratio is 1 but for the simulation's error: that of its logarithm comes from the bootstrap, and a cell holds unless it is
above 1 by more than `SURE` of those errors. Whoever drew less often may have missed what is rare, and vary less than
the law does; so the squared errors of both are taken to vary as those vary that vary more. All cells are in
build/bench/statistics_cells.json; the table has the worst of each statistic, and every cell that does not hold.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.blocks import rows as block_rows
from benchmarks.peers.columns import SHARES, ColumnQuestion
from benchmarks.queries import rows as query_rows
from benchmarks.rows import Row, at_least, at_most, report
from benchmarks.sketches import rows as sketch_rows
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.mechanisms.additive.bounded_noise import BoundedNoise
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.system_bits import system_bits

SURE = 4.0  # standard errors: of three hundred cells with a ratio of 1, one in a hundred runs has one beyond
ROUNDING = 1e-9  # of numbers that are the same but for the last bits
NAMES = {"diffprivlib": "diffprivlib", "opendp": "OpenDP"}
INTERPRETERS = {
    "discreet": sys.executable,
    "diffprivlib": sys.executable,
    "opendp": str(Path(".venv/bench-opendp/bin/python").absolute()),
}
FEW, MANY, RUNS = (100, 250), (1000, 10_000), 1000  # queries that get bounded noise, and how often
ACCOUNT = Budget(1.0, 1e-6)


@dataclass(frozen=True)
class Goal:
    """How many times as fast as a peer this library has to be: on sums, on quantiles, and on all of them together."""

    sums: float
    quantiles: float
    together: float


FASTER = {"diffprivlib": Goal(sums=1, quantiles=10, together=10), "opendp": Goal(sums=4, quantiles=8, together=7)}


@dataclass(frozen=True)
class Cell:
    """One comparison: the ratio of two errors, and the standard error of its logarithm."""

    peer: str
    asked: ColumnQuestion
    ratio: float
    log_error: float

    @property
    def holds(self) -> bool:
        return math.log(self.ratio) <= SURE * self.log_error + ROUNDING

    @property
    def family(self) -> tuple[str, str, str]:
        return self.peer, self.asked.statistic, self.asked.relation

    @property
    def measured(self) -> str:
        return f"{self.ratio:.3f} ± {self.ratio * self.log_error:.3f}"

    @property
    def where(self) -> str:
        return f"{self.asked.column}, n {self.asked.size}, epsilon {self.asked.epsilon:g}"

    @property
    def row(self) -> Row:
        claim = f"{self.asked.statistic}, {self.asked.relation}: error over {NAMES[self.peer]}'s; {self.where}"
        return Row(claim, self.measured, "<= 1", self.holds)


@cache
def found(who: str, what: str) -> dict[ColumnQuestion, dict[str, float]]:
    """What a library's program prints: `errors` or `seconds` of everything that it is asked."""
    root = Path(__file__).parents[1]
    script = root / "benchmarks" / "peers" / f"{who}_statistics.py"
    place = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")]), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([INTERPRETERS[who], script, what], check=True, stdout=subprocess.PIPE, text=True, env=place)
    asked = {field.name for field in fields(ColumnQuestion)}
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return {
        ColumnQuestion(**{name: row[name] for name in asked}): {name: row[name] for name in row.keys() - asked}
        for row in rows
    }


def compared(peer: str) -> list[Cell]:
    """All cells of one peer."""
    ours, theirs = found("discreet", "errors"), found(peer, "errors")
    return [Cell(peer, asked, *_ratio(ours[asked], error)) for asked, error in theirs.items()]


def _ratio(ours: dict[str, float], theirs: dict[str, float]) -> tuple[float, float]:
    if theirs["rmse"] == 0:
        return (1.0 if ours["rmse"] == 0 else math.inf), 0.0
    varies = max(error["log_error"] * math.sqrt(error["draws"]) for error in (ours, theirs))
    return ours["rmse"] / theirs["rmse"], varies * math.hypot(ours["draws"] ** -0.5, theirs["draws"] ** -0.5)


def accuracy() -> Iterator[Row]:
    """Root mean squared errors over those of the peers, on every cell."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda who: found(who, "errors"), ("opendp", "diffprivlib", "discreet")))
    cells = [cell for peer in NAMES for cell in compared(peer)]
    path = Path("build/bench/statistics_cells.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(cell.row) for cell in cells], indent=1) + "\n")
    yield Row(
        "simulation: standard errors of a ratio's logarithm, median and greatest", _precision(cells), "printed", True
    )
    for (peer, statistic, relation), group in groupby(
        sorted(cells, key=lambda cell: cell.family), lambda cell: cell.family
    ):
        yield from _folded(f"{statistic}, {relation}: error over {NAMES[peer]}'s", list(group))


def _precision(cells: list[Cell]) -> str:
    errors = [cell.log_error for cell in cells]
    return f"{np.median(errors):.3f}, {max(errors):.3f}"


def _folded(claim: str, cells: list[Cell]) -> Iterator[Row]:
    """The worst of all cells of a statistic, their geometric mean, and all that do not hold."""
    kept = [cell for cell in cells if math.isfinite(cell.ratio)]
    worst = max(cells, key=lambda cell: math.log(cell.ratio) - SURE * cell.log_error)
    yield Row(f"{claim}, {len(cells)} cells; the worst: {worst.where}", worst.measured, "<= 1", worst.holds)
    logarithm = float(np.mean([math.log(cell.ratio) for cell in kept]))
    off = math.sqrt(sum(cell.log_error**2 for cell in kept)) / len(kept)
    measured = f"{math.exp(logarithm):.3f} ± {math.exp(logarithm) * off:.3f}"
    yield Row(f"{claim}, geometric mean", measured, "<= 1", logarithm <= SURE * off)
    yield from (cell.row for cell in cells if not cell.holds and cell is not worst)


def speed() -> Iterator[Row]:
    """Seconds of the processor at a million values, each library warm in a process of its own."""
    ours = found("discreet", "seconds")
    for peer, name in NAMES.items():
        goal, together = FASTER[peer], np.zeros(2)
        for asked, theirs in found(peer, "seconds").items():
            both = np.array([theirs["seconds"], ours[asked]["seconds"]])
            together += both
            least = goal.quantiles if asked.statistic in SHARES else goal.sums
            yield _slower(f"{asked.statistic}, {asked.relation}", name, both, least)
        yield _slower("all of these, one after the other", name, together, goal.together)


def _slower(what: str, peer: str, seconds: np.ndarray, goal: float) -> Row:
    other, mine = (1000 * seconds).tolist()
    return at_least(f"{what}, n 1e6: time of {peer} over ours ({other:.3g} over {mine:.3g} ms)", other / mine, goal)


def bounded_noise() -> Iterator[Row]:
    """The greatest error among many answers, with bounded noise and with Gaussian noise of the same price."""
    for count in (*FEW, *MANY):
        ratio = _greatest(calibrate(BoundedNoise(queries=count), ACCOUNT), 1.0, count)
        ratio /= _greatest(calibrate(Gaussian(), ACCOUNT), math.sqrt(count), count)
        claim = f"greatest error among {count} answers, bounded over Gaussian noise, epsilon 1 and delta 1e-6: median"
        yield at_most(claim, ratio, 1.0) if count in MANY else Row(claim, round(ratio, 4), "printed", True)


def _greatest(noise: BoundedNoise | Gaussian, sensitivity: float, count: int) -> float:
    """The median of the greatest of so many errors, for answers that one record moves by 1 each."""
    unit = 2.0**20
    drawn = noise.noise(system_bits(), (RUNS, count), noise.multiplier * sensitivity * unit)
    return float(np.median(np.abs(drawn).max(axis=1))) / unit


PARTS = {
    "accuracy": accuracy,
    "speed": speed,
    "queries": query_rows,
    "blocks": block_rows,
    "bounded_noise": bounded_noise,
    "sketches": sketch_rows,
}


def main(chosen: list[str]) -> None:
    """All parts, or those that are named; a part of the benchmark is written to a file of its own."""
    rows: list[Row] = []
    for name, part in PARTS.items():
        if not chosen or name in chosen:
            print(f"... {name}", file=sys.stderr, flush=True)
            rows += part()
    report("-".join(["statistics", *chosen]), rows)


if __name__ == "__main__":
    main(sys.argv[1:])
