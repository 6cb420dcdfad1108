"""Audits of made-up mechanisms: too little noise is found, neighbors not given, and no sound one is refuted.

    python -m benchmarks.attacks_audit [--sound N]

Each of forty small mechanisms is written for its epsilon, so that it has a sound twin (the epsilon that is claimed) and
broken ones (twice and one and a half times as much). The settings of the auditor were fixed on other mechanisms.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.rows import Row, at_least, at_most, printed, report
from discreet.audit.audit_report import AuditReport
from discreet.audit.audited import audited
from discreet.core.events import Event, GaussianLoss, PureLoss
from discreet.core.neighbors import Neighbors

RUNS, GRID, SOUND, LEVEL = 100_000, 2.0**-20, 2000, 1e-6
Records = Any
Rng = np.random.Generator
Made = Callable[..., Any]
ONE, TWO, FOUR = (0.0, 1.0), ([0.0] * 2, [1.0] * 2), ([0.0] * 4, [1.0] * 4)
ADD, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE


@dataclass(frozen=True)
class Case:
    """A mechanism of a given epsilon, and where its records lie."""

    name: str
    of: Made
    bounds: Any = ONE
    neighbors: Neighbors = ADD
    size: int = 8
    epsilon: float = 1.0
    gaussian: bool = False

    @property
    def claim(self) -> Event:
        return GaussianLoss(1 / self.epsilon) if self.gaussian else PureLoss(self.epsilon)

    def audited(self, factor: float, seed: int, runs: int = RUNS, confidence: float = 1 - LEVEL) -> AuditReport:
        """The audit of the twin that loses this factor more than it claims."""
        function = partial(self.of, self.epsilon * factor)
        options: dict[str, Any] = {"bounds": self.bounds, "size": self.size, "runs": runs, "random_state": seed}
        options["confidence"] = confidence
        return audited(function, self.neighbors, claim=self.claim, grid=GRID, **options)


def geometric(epsilon: float, shape: Any, rng: Rng) -> Any:
    share = 1 - math.exp(-epsilon)
    return rng.geometric(share, shape) - rng.geometric(share, shape)


def coin(epsilon: float, shape: Any, rng: Rng) -> Any:
    """Whether the truth is told."""
    return rng.random(shape) < 1 / (1 + math.exp(-epsilon))


def noisy_count(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return len(records) + geometric(e, runs, rng)


def noisy_sum(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return records.sum() + rng.laplace(0, 1 / e, runs)


def sum_to_a_hundred(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return records.sum() + rng.laplace(0, 100 / e, runs)


def mean_of_known_size(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return records.mean() + rng.laplace(0, 1 / (len(records) * e), runs)


def four_bins(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return np.histogram(records, 4, (0, 1))[0] + geometric(e, (runs, 4), rng)


def three_bins_replaced(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return np.histogram(records, 3, (0, 1))[0] + rng.laplace(0, 2 / e, (runs, 3))


def answer_of_one(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (records[0] > 0.5) == coin(e, runs, rng)


def one_of_eight(e: float, records: Records, runs: int, rng: Rng) -> Any:
    lie = rng.integers(0, 7, runs)
    honest = rng.random(runs) < math.exp(e) / (math.exp(e) + 7)
    return np.where(honest, records[0], lie + (lie >= records[0]))


def optimized_unary(e: float, records: Records, runs: int, rng: Rng) -> Any:
    bits = rng.random((runs, 8)) < 1 / (math.exp(e) + 1)
    bits[:, records[0]] = rng.random(runs) < 0.5
    return bits


def symmetric_unary(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (np.arange(6) == records[0]) == coin(e / 2, (runs, 6), rng)


def sum_of_answers(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return ((records > 0.5) == coin(e, (runs, len(records)), rng)).sum(axis=1)


def best_column(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (e * records.sum(axis=0) + rng.gumbel(size=(runs, records.shape[1]))).argmax(axis=1)


def best_column_replaced(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (e / 2 * records.sum(axis=0) + rng.gumbel(size=(runs, records.shape[1]))).argmax(axis=1)


def noisy_max(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (records.sum(axis=0) + rng.exponential(1 / e, (runs, records.shape[1]))).argmax(axis=1)


def noisy_min_replaced(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (records.sum(axis=0) - rng.exponential(2 / e, (runs, records.shape[1]))).argmin(axis=1)


def above_a_threshold(e: float, records: Records, runs: int, rng: Rng) -> Any:
    """Of one query: the first of one, so that all of epsilon can be seen."""
    noisy = records.sum() + rng.laplace(0, 1 / e, runs)
    return noisy >= 4


def first_above(e: float, records: Records, runs: int, rng: Rng) -> Any:
    """Dwork and Roth 2014, Algorithm 1: of ten queries, whose loss comes near to epsilon; of two it does not."""
    threshold = 1 + rng.laplace(0, 2 / e, (runs, 1))
    above = records.sum(axis=0) + rng.laplace(0, 4 / e, (runs, records.shape[1])) >= threshold
    return np.where(above.any(axis=1), above.argmax(axis=1), records.shape[1])


def small_counts_hidden(e: float, records: Records, runs: int, rng: Rng) -> Any:
    noisy = len(records) + geometric(e, runs, rng)
    return np.where(noisy < 5, 0, noisy)


def median_of_a_grid(e: float, records: Records, runs: int, rng: Rng) -> Any:
    grid = np.arange(11)
    score = -np.abs((records[:, None] < grid).sum(axis=0) - (records[:, None] > grid).sum(axis=0)) / 2
    return (e * score + rng.gumbel(size=(runs, 11))).argmax(axis=1)


def staircase(e: float, records: Records, runs: int, rng: Rng) -> Any:
    """Geng and Viswanath 2014, for steps of a half."""
    share = 1 / (1 + math.exp(-e))
    steps = rng.geometric(1 - math.exp(-e), runs) - 1
    low = rng.random(runs) < share
    size = np.where(low, steps + 0.5 * rng.random(runs), steps + 0.5 + 0.5 * rng.random(runs))
    return records.sum() + rng.choice([-1, 1], runs) * size


def count_and_sum(e: float, records: Records, runs: int, rng: Rng) -> Any:
    noise = rng.laplace(0, 2 / e, (runs, 2))
    return np.array([len(records), records.sum()]) + noise


def four_columns(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return records.sum(axis=0) + geometric(e / 4, (runs, 4), rng)


def sign_of_the_sum(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return np.sign(records.sum() + rng.laplace(0, 1 / e, runs))


def rounded_sum(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return np.rint(records.sum() + rng.laplace(0, 1 / e, runs)).astype(np.int64)


def clamped_count(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return np.clip(len(records) + geometric(e, runs, rng), 0, 20)


def gaussian_sum(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return records.sum() + rng.normal(0, 1 / e, runs)


def gaussian_vector(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return records.sum(axis=0) + rng.normal(0, 2 / e, (runs, 4))


def parity(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return ((records > 0.5).sum() % 2 == 1) == coin(e, runs, rng)


def whether_any(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return bool((records > 0.7).any()) == coin(e, runs, rng)


def tree_of_four(e: float, records: Records, runs: int, rng: Rng) -> Any:
    """The nodes of a binary tree over the first four records; each is in three."""
    four = np.resize(np.append(records, [0.0] * 4), 4)
    nodes = np.concatenate([four, [four[:2].sum(), four[2:].sum(), four.sum()]])
    return nodes + rng.laplace(0, 3 / e, (runs, 7))


def value_of_one(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return records[0] + rng.laplace(0, 1 / e, runs)


def two_values(e: float, records: Records, runs: int, rng: Rng) -> Any:
    """Duchi, Jordan and Wainwright 2018, of one number."""
    ratio = (math.exp(e) + 1) / (math.exp(e) - 1)
    return np.where(rng.random(runs) < (1 + records[0] / ratio) / 2, 1, -1)


def piecewise(e: float, records: Records, runs: int, rng: Rng) -> Any:
    """Wang et al. 2019, of one number in [-1, 1]."""
    half = math.exp(e / 2)
    far = (half + 1) / (half - 1)
    low = (far + 1) / 2 * records[0] - (far - 1) / 2
    near = rng.random(runs) < half / (half + 1)
    outside = rng.random(runs) * (far + 1) - far
    return np.where(near, low + rng.random(runs) * (far - 1), np.where(outside < low, outside, outside + far - 1))


def hadamard_bit(e: float, records: Records, runs: int, rng: Rng) -> Any:
    row = rng.integers(0, 8, runs)
    bit = np.bitwise_count(row & records[0]) % 2 == 0
    return np.column_stack([row, bit == coin(e, runs, rng)])


def subset_of_two(e: float, records: Records, runs: int, rng: Rng) -> Any:
    """Ye and Barg 2018: the value is in with the odds exp(e) of an uniform subset."""
    inside = rng.random(runs) < 2 * math.exp(e) / (2 * math.exp(e) + 4)
    order = rng.random((runs, 6))
    order[:, records[0]] = np.where(inside, -1.0, 2.0)
    return order.argsort(axis=1).argsort(axis=1) < 2


def count_of_a_sample(e: float, records: Records, runs: int, rng: Rng) -> Any:
    inner = math.log(1 + (math.exp(e) - 1) / 0.5)
    return rng.binomial(len(records), 0.5, runs) + geometric(inner, runs, rng)


def greatest(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return max(records, default=0) + rng.laplace(0, 10 / e, runs)


def difference_of_columns(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return np.abs(records[:, 0] - records[:, 1]).sum() + rng.laplace(0, 1 / e, runs)


def weighted_columns(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (records @ np.array([1.0, -2.0, 3.0])).sum() + rng.laplace(0, 4 / e, runs)


def distinct_values(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return len(np.unique(records)) + geometric(e, runs, rng)


def window(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return ((records > 0.3) & (records < 0.7)).sum() + geometric(e, runs, rng)


def both_high(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (records.min(axis=1) > 0.9).sum() + geometric(e, runs, rng) if len(records) else geometric(e, runs, rng)


def sum_of_squares(e: float, records: Records, runs: int, rng: Rng) -> Any:
    return (records**2).sum() + rng.laplace(0, 4 / e, runs)


SIGNED, EIGHT, SIX = (-1.0, 1.0), (0, 7), (0, 5)
CASES = (
    Case("count", noisy_count),
    Case("count, 0.5", noisy_count, epsilon=0.5),
    Case("sum", noisy_sum),
    Case("sum, 3", noisy_sum, epsilon=3.0),
    Case("signed sum", noisy_sum, SIGNED),
    Case("sum to a hundred", sum_to_a_hundred, (0.0, 100.0)),
    Case("mean", mean_of_known_size, neighbors=REPLACE),
    Case("four bins", four_bins),
    Case("three bins", three_bins_replaced, neighbors=REPLACE),
    Case("answer of one", answer_of_one, neighbors=REPLACE, size=0),
    Case("one of eight", one_of_eight, EIGHT, REPLACE, 0),
    Case("optimized unary", optimized_unary, EIGHT, REPLACE, 0),
    Case("symmetric unary", symmetric_unary, SIX, REPLACE, 0),
    Case("sum of answers", sum_of_answers, neighbors=REPLACE),
    Case("best column", best_column, FOUR),
    Case("best column, replaced", best_column_replaced, FOUR, REPLACE),
    Case("noisy max", noisy_max, FOUR),
    Case("noisy min, replaced", noisy_min_replaced, TWO, REPLACE),
    Case("above a threshold", above_a_threshold),
    Case("first above", first_above, ([0.0] * 10, [1.0] * 10), REPLACE, epsilon=3.0),
    Case("small counts hidden", small_counts_hidden),
    Case("median of a grid", median_of_a_grid, (0, 10), epsilon=2.0),
    Case("staircase", staircase),
    Case("count and sum", count_and_sum),
    Case("four columns", four_columns, ([0] * 4, [1] * 4)),
    Case("sign of the sum", sign_of_the_sum, SIGNED),
    Case("rounded sum", rounded_sum),
    Case("clamped count", clamped_count),
    Case("gaussian sum", gaussian_sum, gaussian=True),
    Case("gaussian vector", gaussian_vector, FOUR, gaussian=True),
    Case("parity", parity),
    Case("whether any", whether_any),
    Case("tree of four", tree_of_four, neighbors=REPLACE, size=3),
    Case("value of one", value_of_one, neighbors=REPLACE, size=0),
    Case("two values", two_values, SIGNED, REPLACE, 0),
    Case("piecewise", piecewise, SIGNED, REPLACE, 0),
    Case("hadamard bit", hadamard_bit, EIGHT, REPLACE, 0),
    Case("subset of two", subset_of_two, SIX, REPLACE, 0),
    Case("count of a sample", count_of_a_sample),
    Case("weighted columns", weighted_columns, ([0.0] * 3, [1.0] * 3)),
)
MORE = (
    Case("greatest", greatest, (0, 10)),
    Case("difference of columns", difference_of_columns, TWO),
    Case("distinct values", distinct_values),
    Case("window", window),
    Case("both high", both_high, TWO),
    Case("sum of squares", sum_of_squares, (-2.0, 2.0)),
)


def found(factor: float) -> tuple[list[str], list[float]]:
    """The names of the twins that were not refuted, and the seconds of each audit."""
    missed, spent = [], []
    for place, case in enumerate(CASES):
        start = time.perf_counter()
        if case.audited(factor, place).holds:
            missed.append(case.name)
        spent.append(time.perf_counter() - start)
    return missed, spent


def alarms(audits: int, confidence: float, runs: int = 20_000) -> int:
    """Sound mechanisms that were refuted, each again and again with other seeds and fewer runs."""
    cases = CASES + MORE
    seeds = range(audits)
    return sum(cases[seed % len(cases)].audited(1.0, 1000 + seed, runs, confidence).refuted for seed in seeds)


def rows(sound: int = SOUND) -> Iterator[Row]:
    """What was promised of audits."""
    for factor, goal in ((2.0, 40), (1.5, 35)):
        missed, spent = found(factor)
        yield at_least(f"of 40 mechanisms that lose {factor:g} times the claim, refuted", 40 - len(missed), goal)
        yield at_most(f"seconds of an audit with a factor of {factor:g}, median", statistics.median(spent), 0.6)
        yield printed(f"seconds of the longest with a factor of {factor:g}", max(spent))
        yield printed(f"missed with a factor of {factor:g}", ", ".join(missed) or "none")
    extra = [case.name for case in MORE if case.audited(2.0, 7).holds]
    yield printed(f"of {len(MORE)} further ones, missed with a factor of 2", ", ".join(extra) or "none")
    yield at_most(f"alarms in {sound} audits of sound mechanisms, level {LEVEL:g}", alarms(sound, 1 - LEVEL), 0)
    yield at_most(f"share of alarms in {sound} such audits, level 0.1", alarms(sound, 0.9) / sound, 0.1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sound", type=int, default=SOUND, help="how many audits of sound mechanisms")
    report("attacks_audit", list(rows(parser.parse_args().sound)))


if __name__ == "__main__":
    main()
