"""Count, sum and mean of every group from one release: the price of one, honest errors, no group left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.releases.spread import Spread
from discreet.releases.table import Table
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.grouped import _share_errors, grouped
from discreet.statistics.moments.mean import mean
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"by": "kind"}, arrays=False)

GROUPS = ("small", "large", "empty", "low")
SCHEMA = Schema({"ward": Category(GROUPS), "stay": Number(-10, 50)})
SIZES = {"small": 30, "large": 3000, "empty": 0, "low": 400}
rng = np.random.default_rng(5)
VALUES = {name: rng.uniform(-12, -9 if name == "low" else 60, size) for name, size in SIZES.items()}
VISITS: dict[str, Any] = {
    "ward": [name for name, size in SIZES.items() for _ in range(size)] + ["?", None, "large"],
    "stay": [*np.concatenate(list(VALUES.values())), 1.0, 1.0, None],
}
CLIPPED = {name: np.clip(values, -10, 50) for name, values in VALUES.items()}
TRUTH = {
    "count": np.array([len(values) for values in CLIPPED.values()]),
    "sum": np.array([values.sum() for values in CLIPPED.values()]),
    "mean": np.array([values.mean() if len(values) else 20.0 for values in CLIPPED.values()]),
}


def visits(seed: int, budget: Budget, **options: Any) -> PrivateData:
    return PrivateData.of(VISITS, SCHEMA, budget, bits=DeterministicBits(seed), **options)


def released(seed: int, budget: Budget, **options: Any) -> Table:
    data = visits(seed, budget, **options)
    return grouped(data, "stay", by="ward", epsilon=budget.epsilon, delta=budget.delta)


def half(found: Table, name: str) -> Array:
    low, high = found[name].interval
    return (high - low) / 2


@pytest.mark.parametrize("degree", [1, 2])
def test_the_question_is_the_moments_of_each_group(degree: int) -> None:
    question, alone = grouped_moments_of(SCHEMA, "ward", "stay", degree), moments_of(SCHEMA, "stay", degree, False)
    places = np.repeat([0.0, 1.0, 3.0, np.nan], 50)
    values = np.clip(np.random.default_rng(0).normal(20, 30, 200), -10, 50)
    values[::9] = np.nan
    records = np.column_stack([places, values])
    sums = question.steps(records).sum(axis=0).reshape(4, degree + 1)
    for group in range(4):
        own = values[places == group][:, None]
        np.testing.assert_array_equal(sums[group], alone.steps(own).sum(axis=0))
    assert question.total is not None
    np.testing.assert_array_equal(question.total(records), sums.ravel())


def test_one_record_moves_all_groups_together_by_its_mass_of_one() -> None:
    question = grouped_moments_of(SCHEMA, "ward", "stay", 2)
    records = np.column_stack([rng.integers(0, 4, 500), rng.uniform(-10, 50, 500)])
    contributions = question.of(records)
    assert np.abs(contributions).sum(axis=1).max() <= 1
    np.testing.assert_array_equal(question.bound.clip(contributions), contributions)
    assert (question.bound.norm, question.bound.radius) == ("l1", 1.0)


def test_all_groups_cost_what_one_mean_costs() -> None:
    estimate = released(0, Budget(0.5))
    assert pure_epsilon(estimate.receipt.event) <= 0.5
    assert estimate.receipt.event == mean(visits(0, Budget(0.5)), "stay", epsilon=0.5).receipt.event


BUDGETS = [
    pytest.param(Budget(0.5), Neighbors.ADD_REMOVE, id="pure, add or remove"),
    pytest.param(Budget(0.5), Neighbors.REPLACE, id="pure, replace"),
    pytest.param(Budget(0.5, 1e-6), Neighbors.ADD_REMOVE, id="approximate, add or remove"),
    pytest.param(Budget(0.5, 1e-6), Neighbors.REPLACE, id="approximate, replace", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("budget", "neighbors"), BUDGETS)
def test_the_error_bars_hold_the_truth_as_often_as_they_say(budget: Budget, neighbors: Neighbors) -> None:
    """40 runs of 95 % intervals: fewer than 31 hits have probability below 1e-4, for each group and figure."""
    hits = {name: np.zeros(4) for name in TRUTH}
    for seed in range(40):
        found = released(seed, budget, neighbors=neighbors)
        for name, truth in TRUTH.items():
            hits[name] += np.abs(found[name].values - truth) <= half(found, name) + 1e-6 * np.abs(truth)
    assert {name: bool(count.min() >= 31) for name, count in hits.items()} == dict.fromkeys(TRUTH, True)


def test_errors_of_means_are_narrow_where_there_are_many_records() -> None:
    found = released(1, Budget(1.0))
    assert half(found, "mean")[1] < 0.2
    assert half(found, "mean")[2] == 60.0
    count = half(found, "count")[0]
    beyond = (1 + count / 2) * np.exp(-count)  # for two Laplace variables of scale one
    assert beyond == pytest.approx(0.05, rel=0.01)


@pytest.mark.parametrize("noise", [Laplace(1.0), Gaussian(1.0)])
def test_the_error_of_a_share_is_never_understated(noise: Any) -> None:
    spread = Spread(noise, 2.0)
    shares = np.linspace(0, 1, 201)
    exact = np.array([spread.half_width([share, 1 - share]) for share in shares])
    looked_up = _share_errors(shares, spread, 0.95)
    assert (looked_up >= exact * (1 - 1e-3)).all()
    assert (looked_up <= exact * 1.05).all()


def test_every_listed_group_has_a_row_even_without_records() -> None:
    nobody = PrivateData.of({"ward": [], "stay": []}, SCHEMA, Budget(1.0))
    found = grouped(nobody, "stay", by="ward", epsilon=1.0)
    assert found.labels["ward"] == GROUPS
    assert all(np.isfinite(one.values).all() for one in found.series)
    assert ((found["mean"].values >= -10) & (found["mean"].values <= 50)).all()


def test_a_person_with_many_rows_moves_the_groups_by_all_that_are_kept(tmp_path: Path) -> None:
    table = "SELECT range % 500 AS who, range % 3 AS ward, CAST(range % 40 AS DOUBLE) AS stay FROM range(20000)"
    duckdb.connect().sql(table).write_parquet(str(tmp_path / "visits.parquet"))
    schema = Schema({"ward": Category(("0", "1", "2", "3")), "stay": Number(0, 50)})
    few, many = (
        grouped(
            PrivateData.of(
                tmp_path / "visits.parquet", schema, Budget(1.0), unit=Unit("user", column="who", rows=rows)
            ),
            "stay",
            by="ward",
            epsilon=1.0,
        )
        for rows in (1, 10)
    )
    assert half(many, "count")[0] == pytest.approx(10 * half(few, "count")[0], rel=1e-3)
    assert few.values.sum() == pytest.approx(500, abs=30)  # four groups of two Laplace variables of scale one
    assert many.values.sum() == pytest.approx(5000, abs=300)


def test_the_table_is_shown_whole_and_escaped() -> None:
    schema = Schema({"<i>ward": Category(("<b>", "b")), "stay": Number(0, 1)})
    data = PrivateData.of({"<i>ward": ["<b>"], "stay": [1.0]}, schema, Budget(1.0))
    found = grouped(data, "stay", by="<i>ward", epsilon=1.0)
    assert len(str(found).splitlines()) == 4
    assert str(found).startswith("stay by <i>ward (95% for these data)")
    assert "<b>" not in found._repr_html_()
    assert "&lt;i&gt;ward" in found._repr_html_()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda data: grouped(data, "ward", by="ward", epsilon=1.0),
        lambda data: grouped(data, "stay", by="stay", epsilon=1.0),
        lambda data: grouped(data, "stay", by="nurse", epsilon=1.0),
        lambda data: grouped(data, "stay", by="ward", epsilon=3.0),
        lambda data: grouped_moments_of(data.schema, "ward", "stay", 3),
    ],
)
def test_a_mistake_is_refused_before_anything_is_spent(wrong: Callable[[PrivateData], Any]) -> None:
    data = visits(0, Budget(2.0))
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        wrong(data)
    grouped(data, "stay", by="ward", epsilon=2.0)


def test_a_degree_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="degree is 0"):
        grouped_moments_of(SCHEMA, "ward", "stay", 0)
