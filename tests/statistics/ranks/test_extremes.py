"""Minimum, maximum and range: inside the values, near their ends, and honest about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.tree import Tree
from discreet.releases.estimate import Estimate
from discreet.schema.schema import Number, Schema
from discreet.statistics.ranks.cumulative_counts import CumulativeCounts
from discreet.statistics.ranks.extremes import NOISIEST, farthest, maximum, minimum, value_range
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix

SCHEMA = Schema({"x": Number(-1000, 1000)})
VALUES = np.random.default_rng(0).uniform(10, 20, 20_000)
Statistic = Callable[..., Estimate]
EXACT: dict[Statistic, float] = {minimum: VALUES.min(), maximum: VALUES.max(), value_range: np.ptp(VALUES)}
each = pytest.mark.parametrize("statistic", list(EXACT), ids=lambda statistic: statistic.__name__)


@each
def test_the_interval_holds_the_exact_value_of_these_records(statistic: Statistic) -> None:
    """100 runs that may err in one of twenty cases: fewer than 82 hits have probability below 1e-6."""
    hits = 0
    for seed in range(100):
        found = statistic(
            PrivateData.of({"x": VALUES}, SCHEMA, Budget(1.0), bits=DeterministicBits(seed)), "x", epsilon=1.0
        )
        hits += found.interval.low <= EXACT[statistic] <= found.interval.high
    assert hits >= 82


@each
def test_it_is_as_far_out_as_some_dozens_of_records(statistic: Statistic) -> None:
    private = PrivateData.of({"x": VALUES}, SCHEMA, Budget(1.0), bits=DeterministicBits(7))
    found = statistic(private, "x", epsilon=1.0)
    assert found.value == pytest.approx(EXACT[statistic], abs=0.2)
    assert pure_epsilon(found.receipt.event) <= 1.0


def test_people_who_report_by_themselves_have_a_minimum_too() -> None:
    phones = Matrix(np.random.default_rng(5).uniform(5, 10, (8000, 1)), Schema.numeric(0.0, 20.0, 1))
    found = minimum(PrivateData(Local(phones, bits=DeterministicBits(3)), MemoryLedger(Budget(4.0))), "x0", epsilon=4.0)
    assert 4 < found.value < 8


@each
def test_records_that_none_of_them_could_hide_among_are_somewhere_between_the_bounds(statistic: Statistic) -> None:
    for seed in range(20):
        private = PrivateData.of({"x": VALUES[:30]}, SCHEMA, Budget(0.2), bits=DeterministicBits(seed))
        found = statistic(private, "x", epsilon=0.2)
        assert found.interval == ((0, 2000) if statistic is value_range else (-1000, 1000))


@pytest.mark.parametrize("side", [minimum, maximum])
def test_the_worst_of_data_are_held_too(side: Statistic) -> None:
    """All values at the far end, so that every other cell is empty: 200 runs of 95 %; below 176 is below 1e-4."""
    values = np.full(2000, 999.0 if side is minimum else -999.0)
    hits = 0
    for seed in range(200):
        private = PrivateData.of({"x": values}, SCHEMA, Budget(1.0), bits=DeterministicBits(seed))
        low, high = side(private, "x", epsilon=1.0).interval
        hits += low <= values[0] <= high
    assert hits >= 176


@pytest.mark.parametrize("levels", [2, 3])
def test_sums_of_noise_on_a_tree_are_seldom_farther_than_it_says(levels: int) -> None:
    """The highest of all rising sums, over trees of nothing but noise: 600 draws, three standard errors."""
    rng, highest, even = np.random.default_rng(levels), [], Tree.even(16, levels, "l1")
    for _ in range(600):
        tree = CumulativeCounts(even, even.leaves_of(rng.normal(size=sum(even.sizes))), Number(0, 1))
        below = np.concatenate([[0.0], np.cumsum(tree.leaves)])[:-1]
        rising = (np.maximum.accumulate(below) + np.minimum.accumulate(below[::-1])[::-1]) / 2
        highest.append(rising.max() / tree.deviation(NOISIEST, 0.0))
    for risk in (0.2, 0.05, 0.025, 0.01):
        assert np.mean(np.array(highest) > farthest(risk)) <= risk + 3 * np.sqrt(risk / 600)


def test_more_confidence_is_farther_out() -> None:
    private = (PrivateData.of({"x": VALUES}, SCHEMA, Budget(1.0), bits=DeterministicBits(1)) for _ in range(2))
    doubtful, sure = (
        minimum(one, "x", epsilon=1.0, confidence=c) for one, c in zip(private, (0.5, 0.999), strict=True)
    )
    assert doubtful.value < sure.value
    assert sure.confidence == 0.999


@each
def test_hardly_any_data_are_an_answer_within_bounds(statistic: Statistic) -> None:
    for values in 5 * ([], [np.nan], [7.0]):
        assert 0 <= statistic(np.array(values), bounds=(0, 100), epsilon=1.0).value <= 100


MISTAKES: list[dict[str, Any]] = [{"epsilon": 0.0}, {"bounds": (1, 0)}, {"bounds": None}, {"population": True}]


@each
def test_a_mistake_is_refused(statistic: Statistic) -> None:
    for fields in MISTAKES:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            statistic(VALUES, **{"bounds": (0, 100), **fields})
