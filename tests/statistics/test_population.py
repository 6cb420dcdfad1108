"""Intervals for a population hold what they say they hold: sampling error and noise together.

Samples are drawn afresh for every run, from fixed generators. A share p of R runs has a standard error of
sqrt(p (1 - p) / R); tolerances are given in those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.hypotheses.t_test import two_sample_t_test
from discreet.statistics.moments.mean import mean
from discreet.statistics.moments.variance import standard_deviation, variance
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.source import Batched
from discreet.trust.sources.source_of import source_of
from discreet.trust.trust_model import TrustModel

SCHEMA = Schema({"x": Number(0.0, 1.0), "group": Category(("a", "b"))})
Draw = Callable[[np.random.Generator, int], Array]
POPULATIONS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(0.5, 0.1, n),
    "skewed": lambda rng, n: rng.gamma(2.0, 0.05, n),
    "bounded": lambda rng, n: rng.uniform(0.0, 1.0, n),
    "narrow": lambda rng, n: rng.normal(0.5, 0.01, n),
}
RELATIONS = {"secret number": Neighbors.ADD_REMOVE, "public number": Neighbors.REPLACE}
shapes = pytest.mark.parametrize("shape", ["normal", "skewed", "bounded"])
relations = pytest.mark.parametrize("neighbors", RELATIONS.values(), ids=RELATIONS)


@dataclass(frozen=True)
class Truth:
    """The exact mean and variance of a population, its values kept inside the bounds."""

    mean: float
    variance: float


@cache
def truth(shape: str) -> Truth:
    """From a million draws: off by a thirtieth of the standard error of a thousand."""
    values = POPULATIONS[shape](np.random.default_rng(123), 1_000_000).clip(0, 1)
    return Truth(float(values.mean()), float(values.var()))


def differences(data: PrivateData, column: str, **options: Any) -> Any:
    del options["population"]
    return two_sample_t_test(data, column, by="group", **options).estimate


STATISTICS: dict[Any, Callable[[Truth], float]] = {
    mean: lambda exact: exact.mean,
    variance: lambda exact: exact.variance,
    standard_deviation: lambda exact: exact.variance**0.5,
    differences: lambda exact: 0.0,
}
each = pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.__name__)


def coverage(statistic: Any, shape: str, size: int, epsilon: float, neighbors: Neighbors, runs: int) -> float:
    """The share of runs whose 95 % interval holds what is true of the population."""
    rng, exact, hits = np.random.default_rng(size), STATISTICS[statistic](truth(shape)), 0
    groups = np.array(["a", "b"])[(np.arange(size) % 3 == 0).astype(int)].tolist()
    for seed in range(runs):
        records = {"x": POPULATIONS[shape](rng, size), "group": groups}
        bits = DeterministicBits(1000 * size + seed)
        data = PrivateData.of(records, SCHEMA, Budget(epsilon), neighbors=neighbors, bits=bits)
        low, high = statistic(data, "x", epsilon=epsilon, population=True).interval
        hits += low <= exact <= high
    return hits / runs


@each
@shapes
def test_a_thousand_records_cover_their_population(statistic: Any, shape: str) -> None:
    """At epsilon 1, under either relation in turn. 40 runs: fewer than 31 hits have probability below 1e-4."""
    neighbors = list(Neighbors)[(list(STATISTICS).index(statistic) + list(POPULATIONS).index(shape)) % 2]
    assert coverage(statistic, shape, 1000, 1.0, neighbors, 40) >= 31 / 40


@each
@pytest.mark.parametrize("neighbors", [Neighbors.REPLACE, pytest.param(Neighbors.ADD_REMOVE, marks=pytest.mark.slow)])
def test_where_there_is_little_but_noise_intervals_do_not_cover_too_little(
    statistic: Any, neighbors: Neighbors
) -> None:
    """Fifty records at epsilon 0.1, and values that hardly vary. 40 runs: fewer than 31 hits have probability below
    1e-4."""
    for shape in ("skewed", "narrow"):
        assert coverage(statistic, shape, 50, 0.1, neighbors, 40) >= 31 / 40


def locally(records: dict[str, Any]) -> TrustModel:
    source = source_of(records, SCHEMA)
    assert isinstance(source, Batched)
    return Local(source, bits=DeterministicBits(3))


def in_secret(records: dict[str, Any]) -> TrustModel:
    parts = {f"p{i}": {name: column[i::3] for name, column in records.items()} for i in range(3)}
    return SecureSum.rehearsal(parts, SCHEMA, threshold=2)


@each
@pytest.mark.parametrize("trust", [locally, in_secret], ids=["local", "secure sum"])
@pytest.mark.parametrize("budget", [Budget(4.0), Budget(4.0, 1e-6)], ids=["pure", "approximate"])
def test_no_trust_model_needs_a_line_of_its_own(
    statistic: Any, trust: Callable[[dict[str, Any]], TrustModel], budget: Budget
) -> None:
    """Within four half-widths, that is eight standard errors."""
    values = POPULATIONS["normal"](np.random.default_rng(9), 6000)
    data = PrivateData(trust({"x": values, "group": ["a", "b"] * 3000}), MemoryLedger(budget))
    found = statistic(data, "x", epsilon=budget.epsilon, delta=budget.delta, population=True)
    assert found.population
    assert abs(found.value - STATISTICS[statistic](truth("normal"))) <= 4 * found.half_width


@pytest.mark.slow
@each
@shapes
@relations
@pytest.mark.parametrize("size", [1000, 100_000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_intervals_cover_between_935_and_97_in_a_thousand(
    statistic: Any, shape: str, neighbors: Neighbors, size: int, epsilon: float
) -> None:
    """2,000 runs, or 400 of large samples, with two standard errors on either side. Above, it may be all where noise
    hides how the sample varies: a variance that is never negative is too large on average."""
    runs = 2000 if size == 1000 else 400
    share, error = coverage(statistic, shape, size, epsilon, neighbors, runs), (0.05 * 0.95 / runs) ** 0.5
    assert share >= 0.935 - 2 * error
    if size * epsilon**2 > 1000:
        assert share <= 0.97 + 2 * error
