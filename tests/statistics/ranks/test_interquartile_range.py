"""Interquartile ranges: by two quartiles, and by propose-test-release."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Number, Schema
from discreet.statistics.ranks.interquartile_range import interquartile_range, stable_interquartile_range
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.statistics.trial import StatisticTrial

TRIALS = {
    "interquartile_range": StatisticTrial(extreme={"step": [1e-15]}),
    "stable_interquartile_range": StatisticTrial(hostile={"ratio": [1.0, 0.5]}, extreme={"ratio": [1 + 2**-52]}),
}

VALUES = np.random.default_rng(0).normal(50, 10, 5000)
EXACT = float(np.subtract(*np.quantile(VALUES, [0.75, 0.25])))


def test_the_range_is_near_the_exact_one_at_its_price() -> None:
    found = interquartile_range(VALUES, bounds=(0, 100), epsilon=1.0)
    assert found.value == pytest.approx(EXACT, rel=0.1)
    assert pure_epsilon(found.receipt.event) <= 1.0
    low, high = found.interval
    assert 0 <= low <= found.value <= high


def test_without_an_interval_there_is_none() -> None:
    found = interquartile_range(VALUES, bounds=(0, 100), confidence=None, epsilon=1.0)
    assert (found.confidence, found.interval) == (None, (-np.inf, np.inf))


def test_hardly_any_data_have_a_range_that_is_not_negative() -> None:
    for values in 5 * ([], [np.nan], [3.0]):
        found = interquartile_range(np.array(values), bounds=(0, 100), epsilon=1.0)
        assert 0 <= found.value <= 100


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_a_stable_range_is_right_to_within_its_factor(neighbors: Neighbors) -> None:
    answers = []
    for seed in range(30):
        private = PrivateData.of(
            {"x": VALUES},
            Schema({"x": Number(0, 100)}),
            Budget(1.0, 1e-6),
            neighbors=neighbors,
            bits=DeterministicBits(seed),
        )
        answers.append(stable_interquartile_range(private, "x", epsilon=1.0))
    assert delta(answers[0].receipt.event, 1.0) <= 1e-6
    assert all(found.interval.low <= EXACT <= found.interval.high for found in answers)
    assert all(found.interval.high / found.interval.low == pytest.approx(1.5) for found in answers)


def test_no_answer_is_an_ordinary_outcome_and_costs_the_same() -> None:
    many = stable_interquartile_range(VALUES, bounds=(0, 100), epsilon=1.0)
    for values in (np.array([]), np.array([1.0, 2.0]), np.full(3, np.nan)):
        found = stable_interquartile_range(values, bounds=(0, 100), epsilon=1.0)
        assert math.isnan(found.value)
        assert found.receipt.event == many.receipt.event
        assert "no answer" in str(found)
    assert "[" in str(many)


def test_asking_again_is_paid_again() -> None:
    private = PrivateData.of({"x": [1.0]}, Schema({"x": Number(0, 100)}), Budget(1.0, 1e-6))
    assert stable_interquartile_range(private, "x", epsilon=1.0).interval == (-math.inf, math.inf)
    with pytest.raises(DiscreetError):
        stable_interquartile_range(private, "x", epsilon=1.0)


def test_only_a_curator_can_be_asked_and_nothing_is_spent() -> None:
    phones = Local(Matrix(VALUES[:100, None], Schema.numeric(0.0, 100.0, 1)))
    pooled = PrivateData.of(
        {"who": ["a"], "x": [1.0]},
        Schema({"x": Number(0, 1)}),
        Budget(1.0, 1e-6),
        unit=Unit("user", column="who", pooled=True),
    )
    for private, column in ((PrivateData(phones, MemoryLedger(Budget(1.0, 1e-6))), "x0"), (pooled, "x")):
        with pytest.raises(NotPermitted, match="Nothing was released or spent"):
            stable_interquartile_range(private, column, epsilon=1.0)
        assert private.ledger.balance().certified == 0


MISTAKES: list[dict[str, Any]] = [
    {"delta": 0.0},
    {"ratio": 1.0},
    {"epsilon": 0.0},
    {"bounds": (1, 0)},
    {"confidence": 0.99, "delta": 0.1},
    {"population": True},
]


def test_a_mistake_is_refused() -> None:
    for fields in MISTAKES:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            stable_interquartile_range(VALUES, **{"bounds": (0, 100), **fields})
