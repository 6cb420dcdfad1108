"""Trimmed and winsorized means: cuts from the data, in private."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.total import trimmed_of, winsorized_of
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.mean import mean
from discreet.statistics.moments.trimmed import CutEstimate, trimmed_mean, winsorized_mean
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIALS = {
    name: StatisticTrial(hostile={"trim": [0.0, 0.5, -0.1]}, extreme={"trim": [math.nextafter(0.5, 0)]})
    for name in ("trimmed_mean", "winsorized_mean")
}

VALUES = np.random.default_rng(0).normal(50, 10, 5000)
SCHEMA = Schema({"x": Number(-1e6, 1e6)})
Statistic = Callable[..., CutEstimate]
each = pytest.mark.parametrize("statistic", [winsorized_mean, trimmed_mean])


def exact(statistic: Statistic, values: np.ndarray, found: CutEstimate) -> float:
    if statistic is winsorized_mean:
        return float(np.clip(values, found.lower, found.upper).mean())
    return float(values[(values >= found.lower) & (values <= found.upper)].mean())


BUDGETS = [
    pytest.param(Budget(1.0), Neighbors.ADD_REMOVE, id="pure, add or remove"),
    pytest.param(Budget(1.0), Neighbors.REPLACE, id="pure, replace", marks=pytest.mark.slow),
    pytest.param(Budget(1.0, 1e-6), Neighbors.ADD_REMOVE, id="approximate, add or remove", marks=pytest.mark.slow),
    pytest.param(Budget(1.0, 1e-6), Neighbors.REPLACE, id="approximate, replace"),
]


@each
@pytest.mark.parametrize(("budget", "neighbors"), BUDGETS)
def test_the_error_bar_holds_the_mean_for_these_cuts_as_often_as_it_says(
    statistic: Statistic, neighbors: Neighbors, budget: Budget
) -> None:
    """50 runs of a 95 % bar: fewer than 39 hits have probability below 1e-5."""
    hits = 0
    for seed in range(50):
        private = PrivateData.of({"x": VALUES}, SCHEMA, budget, neighbors=neighbors, bits=DeterministicBits(seed))
        found = statistic(private, "x", epsilon=1.0, delta=budget.delta)
        hits += abs(found.value - exact(statistic, VALUES, found)) <= found.half_width + 1e-6
    assert hits >= 39


@each
def test_far_too_wide_bounds_cost_hardly_anything(statistic: Statistic) -> None:
    found, plain = statistic(VALUES, bounds=(-1e6, 1e6), epsilon=1.0), mean(VALUES, bounds=(-1e6, 1e6), epsilon=1.0)
    assert found.half_width < plain.half_width / 100
    assert found.value == pytest.approx(50, abs=2)


@each
def test_the_cuts_are_at_the_quantiles_asked_for(statistic: Statistic) -> None:
    found = statistic(VALUES, trim=0.1, bounds=(0, 100), epsilon=2.0)
    assert (found.lower > VALUES).mean() == pytest.approx(0.1, abs=0.02)
    assert (found.upper < VALUES).mean() == pytest.approx(0.1, abs=0.02)


@each
def test_the_price_is_the_budget_and_no_more(statistic: Statistic) -> None:
    assert pure_epsilon(statistic(VALUES, bounds=(0, 100), epsilon=0.3).receipt.event) <= 0.3
    assert delta(statistic(VALUES, bounds=(0, 100), epsilon=0.3, delta=1e-6).receipt.event, 0.3) <= 1e-6


@each
@pytest.mark.parametrize("values", [[], [np.nan], [7.0], [7.0] * 500], ids=["none", "missing", "one", "constant"])
def test_odd_data_are_an_answer_within_bounds(statistic: Statistic, values: list[float]) -> None:
    for _ in range(5):
        found = statistic(np.array(values), bounds=(0, 100), epsilon=1.0)
        assert 0 <= found.lower < found.upper <= 100
        assert found.lower <= found.value <= found.upper


@pytest.mark.parametrize("question_of", [winsorized_of, trimmed_of])
def test_a_fused_sum_is_the_sum_of_its_clipped_rows(question_of: Any) -> None:
    question = question_of(SCHEMA, "x", 40.0, 60.0)
    records = np.append(VALUES, [np.nan, 40.0, 60.0, 1e6])[:, None]
    np.testing.assert_array_equal(question.total(records), question.steps(records).sum(axis=0))
    np.testing.assert_array_equal(question.bound.clip(question.of(records)), question.of(records))


@each
@pytest.mark.parametrize("fields", [{"trim": 0.0}, {"trim": 0.5}, {"trim": -0.1}, {"epsilon": 0.0}, {"bounds": (1, 0)}])
def test_a_mistake_is_refused(statistic: Statistic, fields: dict[str, Any]) -> None:
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        statistic(VALUES, **{"bounds": (0, 100), **fields})


def test_it_prints_its_error_its_cuts_and_its_receipt() -> None:
    found = trimmed_mean(VALUES, bounds=(0, 100), epsilon=1.0)
    assert str(found).startswith("trimmed mean of value: ")
    assert f"lower_cut {found.lower:.6g}, upper_cut {found.upper:.6g}" in str(found)
    assert float(found) == found.value
    assert "<table" in found._repr_html_()
