"""How many counting queries can be answered at one accuracy and one epsilon, if what they share is made use of."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np
from scipy.special import ndtr

from benchmarks.rows import Row, at_least, at_most, report
from discreet.accounting.calibration import calibrate
from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.online.median_mechanism import SampledMedian
from discreet.mechanisms.online.multiplicative_weights import MultiplicativeWeights
from discreet.mechanisms.online.mwem import MWEM
from discreet.mechanisms.online.online_queries import OnlineMechanism, OnlineQueries
from discreet.mechanisms.online.queries import Queries
from discreet.noise.deterministic import DeterministicBits

RECORDS, SIDE, SHARE = 10_000, 512, 0.08  # answers may be off by 800 people
EPSILON, DELTA, CONFIDENCE = 1.0, 1e-6, 0.95
UPDATES, THRESHOLD = 25, 450.0
ASKED, ASKED_OF_CANDIDATES, CANDIDATES = 24_000, 5000, 5


def answer(counts: np.ndarray) -> Answer:
    return Answer(counts.ravel().astype(np.int64), Grid(0), Bound("l1", 1.0, nonnegative=True), Neighbors.ADD_REMOVE)


def plane(seed: int) -> np.ndarray:
    """Where people live: five towns on a map of 512 by 512 cells."""
    rng = np.random.default_rng(seed)
    middles, widths = rng.uniform(0.15, 0.85, (5, 2)), rng.uniform(0.05, 0.2, (5, 2))
    town = rng.integers(0, 5, RECORDS)
    places = np.clip(middles[town] + widths[town] * rng.normal(size=(RECORDS, 2)), 0, 1 - 1e-9)
    cells = (places * SIDE).astype(int)
    return np.bincount(cells[:, 0] * SIDE + cells[:, 1], minlength=SIDE**2).reshape(SIDE, SIDE)


def rectangles(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.hstack([np.sort(rng.integers(0, SIDE + 1, (count, 2)), axis=1) for _ in range(2)])


def sums(counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """The sum over each rectangle, from cumulated sums."""
    below = np.zeros((SIDE + 1, SIDE + 1))
    below[1:, 1:] = counts.cumsum(axis=0).cumsum(axis=1)
    a, b, c, d = corners.T
    return below[b, d] - below[a, d] - below[b, c] + below[a, c]


def most(chance: Callable[[int], float]) -> int:
    """The greatest number for which all answers are right with the confidence."""
    low, high = 1, 2
    while chance(high) >= CONFIDENCE:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if chance(middle) >= CONFIDENCE else (low, middle)
    return low


def with_laplace() -> int:
    """Noise of scale k / epsilon on each of k answers."""
    return most(lambda k: (1 - math.exp(-SHARE * RECORDS * EPSILON / k)) ** k)


def with_gaussian() -> int:
    """Noise of so many deviations times sqrt(k), for an epsilon that holds but for delta."""
    multiplier = calibrate(Gaussian(), Budget(EPSILON, DELTA)).multiplier
    return most(lambda k: float(1 - 2 * ndtr(-SHARE * RECORDS / (multiplier * math.sqrt(k)))) ** k)


def answered(mechanism: OnlineMechanism, asked: int, seed: int) -> int:
    """How many queries are answered, in their order, before one is off by more than the share."""
    counts, corners = plane(seed), rectangles(asked, seed + 1)
    online, exact = OnlineQueries(mechanism, answer(counts), DeterministicBits(seed)), sums(counts, corners)
    for number, (a, b, c, d) in enumerate(corners):
        inside = np.zeros((SIDE, SIDE), dtype=np.bool_)
        inside[a:b, c:d] = True
        if abs(float(online.ask(Queries(inside.ravel())).values) - exact[number]) > SHARE * RECORDS:
            return number
    return asked


def with_histogram() -> float:
    """The farthest of all answers from Laplace noise on each cell, as a share of what is allowed."""
    noise = np.random.default_rng(0).laplace(0, 1 / EPSILON, (SIDE, SIDE))
    return float(np.abs(sums(noise, rectangles(ASKED, 1))).max() / (SHARE * RECORDS))


def online() -> Iterator[Row]:
    laplace, gaussian = with_laplace(), with_gaussian()
    setting = f"{RECORDS} people, {SIDE}x{SIDE} cells, epsilon {EPSILON:g}, off by at most {SHARE:.0%}"
    yield Row(f"ranges in the plane; {setting}: with Laplace noise on each", laplace, "printed", True)
    yield Row(f"the same with Gaussian noise on each and delta {DELTA:g}", gaussian, "printed", True)
    shown = "farthest answer of a histogram with Laplace noise on each cell, over what is allowed"
    yield Row(shown, round(with_histogram(), 2), "printed", True)
    nothing = Queries(np.zeros(SIDE**2, dtype=np.bool_))
    weights = MultiplicativeWeights(EPSILON, UPDATES, nothing, THRESHOLD)
    median = SampledMedian(EPSILON, UPDATES, nothing, THRESHOLD, CANDIDATES)
    for name, mechanism, asked in (
        ("multiplicative weights", weights, ASKED),
        ("sampled median", median, ASKED_OF_CANDIDATES),
    ):
        start = time.process_time()
        found = min(answered(mechanism, asked, seed) for seed in (0, 1))
        yield at_least(f"{name}, pure epsilon: answered of {asked} asked, the worse of two runs", found, asked)
        yield at_least(f"{name} over Laplace noise", found / laplace, 20)
        yield at_least(f"{name} over Gaussian noise", found / gaussian, 2)
        yield Row(f"{name}, processor seconds", round(time.process_time() - start, 1), "printed", True)


def tables() -> Iterator[Row]:
    """All tables of two of sixteen binary columns, 2000 people: the farthest answer."""
    columns, records = 16, 2000
    rng = np.random.default_rng(0)
    kinds, chances = rng.integers(0, 4, records), rng.beta(0.6, 0.6, (4, columns))
    rows = (rng.random((records, columns)) < chances[kinds]).astype(int)
    counts = np.bincount(rows @ (1 << np.arange(columns))[::-1], minlength=2**columns)
    bits = np.array(np.unravel_index(np.arange(2**columns), (2,) * columns), dtype=np.uint8)
    pairs = [(*pair, *values) for pair in combinations(range(columns), 2) for values in product((0, 1), repeat=2)]
    queries = Queries(np.array([(bits[a] == x) & (bits[b] == y) for a, b, x, y in pairs]))
    exact = queries.answers(counts.astype(np.float64))
    mechanism = MWEM(EPSILON, 11, queries)
    off = []
    for seed in range(3):
        histogram = mechanism.histogram(mechanism.release(answer(counts), DeterministicBits(seed)))
        off.append(float(np.abs(queries.answers(histogram) - exact).max()))
    on_cells = float(np.abs(queries.answers(rng.laplace(0, 1 / EPSILON, 2**columns))).max())
    on_queries = float(np.abs(rng.laplace(0, math.comb(columns, 2) / EPSILON, len(queries))).max())
    best = min(on_cells, on_queries)
    claim = (
        f"{len(queries)} cells of tables of two of {columns} binary columns, {records} people: farthest answer of MWEM"
    )
    yield Row(claim, round(max(off)), "printed", True)
    yield at_most(
        f"the same over noise on cells ({on_cells:.0f}) or on queries ({on_queries:.0f})", max(off) / best, 1.0
    )


def rows() -> Iterator[Row]:
    yield from online()
    yield from tables()


def main() -> None:
    report("queries", list(rows()))


if __name__ == "__main__":
    main()
