"""google/rappor's grid of regression tests: five distributions, four sizes, five settings.

    python -m benchmarks.rappor_grid [--jobs 1] [--longest 200000]

Counts are drawn from their law at once: bits are independent given the strings, so that sums of coins are binomial.
Cells with more candidates than `--longest` are left out; the largest have 100,000 and take minutes.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from benchmarks.rows import Row, at_most, printed, report
from discreet.core.grid import Array, Steps
from discreet.local.rappor.decoded_strings import decoded
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_parameters import bloom_design

SIZES = {"tiny": (100, 10**3), "small": (100, 10**6), "medium": (1000, 10**7), "large": (10_000, 10**8)}
DISTRIBUTIONS = ("unif", "exp", "gauss", "zipf1", "zipf1.5")
NOTED = {"zipf1.5 typical": 9, "zipf1.5 loose": 26, "zipf1.5 over_x10": 8, "exp typical": 25, "exp loose": 43}
NOTED |= {
    "gauss typical": 37,
    "unif typical": 32,
    "unif over_x10": 1,
}  # Bonferroni, earlier: a penalty by rule of thumb, and no column for other strings, which finds more and is biased


@dataclass(frozen=True)
class Configuration:
    """One of google/rappor's: the randomisation, and which candidates are missing or too many."""

    p: float
    q: float
    f: float
    missing: bool
    more: float  # in units of the true strings, or 0.2 for twenty of a hundred

    @property
    def rappor(self) -> Rappor:
        return Rappor(bits=8, hashes=2, cohorts=128, f=self.f, p=self.p, q=self.q)


@dataclass(frozen=True)
class Cell:
    """What one test of the grid shows."""

    row: Row
    found: int
    false: int


CONFIGURATIONS = {
    "typical": Configuration(0.39, 0.61, 0.45, True, 0.2),
    "sharp": Configuration(0.39, 0.61, 0.45, False, 0.0),
    "loose": Configuration(0.225, 0.775, 0.0, True, 0.2),
    "over_x2": Configuration(0.39, 0.61, 0.45, True, 1.0),
    "over_x10": Configuration(0.39, 0.61, 0.45, True, 9.0),
}


def counted(rappor: Rappor, strings: list[str], counts: Steps, rng: np.random.Generator) -> Steps:
    """The tally of one report of each client."""
    per = rng.multinomial(counts, np.full(rappor.cohorts, 1 / rappor.cohorts))
    design = bloom_design(rappor, strings).tocsr()
    rows = [slice(cohort * rappor.bits, (cohort + 1) * rappor.bits) for cohort in range(rappor.cohorts)]
    having = np.stack([design[part] @ per[:, cohort] for cohort, part in enumerate(rows)]).astype(np.int64)
    n = per.sum(axis=0)[:, None]
    ones = rng.binomial(having, rappor.one_if_set) + rng.binomial(n - having, rappor.one_if_clear)
    return np.concatenate([n, ones], axis=1)


def shares(distribution: str, strings: int) -> Array:
    """Of strings, the first the most common where one is."""
    rank = np.arange(1, strings + 1)
    weights = {
        "unif": np.ones(strings),
        "exp": np.exp(-5 * rank / strings),
        "gauss": np.exp(-0.5 * np.square((rank - strings / 2) / (strings / 6))),
        "zipf1": 1 / rank,
        "zipf1.5": rank**-1.5,
    }[distribution]
    return np.asarray(weights / weights.sum())


def cell(size: str, distribution: str, name: str, seed: int) -> Cell:
    """One test of the grid: what is found, what of it is false, and the distance of the distributions."""
    configuration, (strings, n) = CONFIGURATIONS[name], SIZES[size]
    rng, words = np.random.default_rng(seed), [f"v{number}" for number in range(1, strings + 1)]
    counts = np.floor(n * shares(distribution, strings)).astype(np.int64)
    tally = counted(configuration.rappor, words, counts, rng)
    kept = [word for word in words if not (configuration.missing and word.endswith("9"))]
    candidates = kept + [f"x{number}" for number in range(round(configuration.more * strings))]
    start = time.perf_counter()
    found = decoded(configuration.rappor, tally, candidates=candidates)
    seconds, true = time.perf_counter() - start, dict(zip(words, counts.tolist(), strict=True))
    estimated = dict(zip(found.found, found.counts.tolist(), strict=True))
    distance = sum(abs(estimated.get(word, 0) - true.get(word, 0)) for word in {*estimated, *true}) / 2 / counts.sum()
    false = sum(word not in true for word in found.found)
    sure = int((found.p_values <= 0.05 / len(candidates)).sum())
    told = f"{len(found.found) - false}/{false}/{distance:.2f}, Bonferroni {sure}, {seconds:.1f} s"
    earlier = (
        f" ({NOTED[f'{distribution} {name}']} noted)" if size == "small" and f"{distribution} {name}" in NOTED else ""
    )
    return Cell(printed(f"grid {size} {distribution} {name}: true/false/TV{earlier}", told), len(found.found), false)


def grid(longest: int, jobs: int = 1) -> list[Row]:
    """Google's grid, without cells that have more candidates than this."""
    asked = [
        (size, distribution, name, seed)
        for size in SIZES
        for distribution in DISTRIBUTIONS
        for seed, (name, configuration) in enumerate(CONFIGURATIONS.items())
        if SIZES[size][0] * (1 + configuration.more) <= longest
    ]
    if jobs == 1:
        cells = [cell(*one) for one in asked]
    else:
        with ProcessPoolExecutor(jobs) as pool:
            cells = list(pool.map(cell, *zip(*asked, strict=True)))
    found, false = sum(one.found for one in cells), sum(one.false for one in cells)
    return [
        *(one.row for one in cells),
        at_most("grid: false ones among all that are found", false / max(found, 1), 0.05),
    ]


def main() -> None:
    """All cells."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rappor_grid")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--longest", type=int, default=200_000, help="candidates of a cell, at most")
    given = parser.parse_args()
    report("rappor_grid", grid(given.longest, given.jobs))


if __name__ == "__main__":
    main()
