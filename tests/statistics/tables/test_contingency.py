"""Contingency tables: every cell at the price of one, sums with honest bars, and clear refusals."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.neighbors import Neighbors, Unit
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.domain import MOST_CELLS, Domain
from discreet.releases.ask import Released
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.statistics.tables.contingency import ContingencyTable, contingency
from discreet.statistics.tables.histogram import histogram
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4})

SCHEMA = Schema({"sex": Category(("f", "m")), "age": Number(0, 90), "ward": Category(("a", "b", "c")), "note": Text()})
rng = np.random.default_rng(3)
VISITS: dict[str, Any] = {
    "sex": [*rng.choice(["f", "m"], 400).tolist(), "f", None],
    "age": [*rng.uniform(-5, 95, 400), np.nan, 10.0],
    "ward": [*rng.choice(["a", "b", "c"], 400, p=[0.7, 0.3, 0.0]).tolist(), "a", "a"],
    "note": ["x"] * 402,
}
COLUMNS = ("sex", "age", "ward")
DOMAIN = Domain.of(SCHEMA, COLUMNS, 3)


def visits(seed: int, budget: Budget, **options: Any) -> PrivateData:
    return PrivateData.of(VISITS, SCHEMA, budget, bits=DeterministicBits(seed), **options)


@cache
def exact() -> np.ndarray:
    table = np.zeros((2, 3, 3))
    for sex, age, ward in zip(*(VISITS[name][:400] for name in COLUMNS), strict=True):
        table["fm".index(sex), min(int(np.clip(age, 0, 90) // 30), 2), "abc".index(ward)] += 1
    return table


def released(seed: int, budget: Budget, **options: Any) -> ContingencyTable:
    data = visits(seed, budget, **options)
    return contingency(data, COLUMNS, bins=3, epsilon=budget.epsilon, delta=budget.delta)


def test_it_costs_what_a_histogram_costs_whatever_the_number_of_cells() -> None:
    alone = histogram(visits(0, Budget(0.7)), "sex", epsilon=0.7)
    prices = [pure_epsilon(one.receipt.event) for one in (released(0, Budget(0.7)), alone)]
    assert prices[0] == pytest.approx(prices[1])


@pytest.mark.parametrize(
    ("budget", "neighbors"), [(Budget(0.5), Neighbors.ADD_REMOVE), (Budget(0.5, 1e-6), Neighbors.REPLACE)]
)
def test_bars_hold_the_exact_counts_as_often_as_they_say(budget: Budget, neighbors: Neighbors) -> None:
    """Noise in whole numbers of scale 2 or more, so 95 % bars may cover up to 96.5 %.

    Cells and margins of 30 tables: 30 x (18 + 9 + 1) bars; fewer than 92 % have chance below 1e-4.
    """
    hits = []
    for seed in range(30):
        table = released(seed, budget, neighbors=neighbors)
        for kept in (COLUMNS, ("age", "ward"), ()):
            gone = tuple(i for i, name in enumerate(COLUMNS) if name not in kept)
            one = table.marginal(kept)
            hits.append(np.abs(one.counts - exact().sum(axis=gone)) <= one.half_width)
    share = np.mean(np.concatenate([np.ravel(one) for one in hits]))
    assert 0.92 <= share <= 0.98


def test_a_marginal_is_a_sum_in_the_order_asked_for() -> None:
    table = released(1, Budget(1.0))
    np.testing.assert_array_equal(table.marginal(["ward", "sex"]).counts, table.counts.sum(axis=1).T)
    assert table.marginal(["ward", "sex"]).labels == (("a", "b", "c"), ("f", "m"))
    twice = table.marginal(["ward", "sex"]).marginal(["sex"])
    np.testing.assert_array_equal(twice.counts, table.marginal(["sex"]).counts)
    assert twice.half_width == table.marginal(["sex"]).half_width > table.half_width
    assert table.marginal([]).counts.shape == ()


def whole_scale(table: ContingencyTable) -> float:
    return table.spread.law.scale(table.spread.stddev)


def test_replace_neighbors_have_twice_the_noise() -> None:
    add, replace = (whole_scale(released(0, Budget(0.1), neighbors=one)) for one in Neighbors)
    assert replace / add == pytest.approx(2.0)


def test_a_person_s_rows_all_count() -> None:
    table = {**VISITS, "who": [str(i // 3) for i in range(402)]}
    unit = Unit("user", column="who", rows=3)
    found = contingency(PrivateData.of(table, SCHEMA, Budget(1.0), unit=unit), COLUMNS, bins=3, epsilon=1.0)
    assert whole_scale(found) == pytest.approx(3 * whole_scale(released(0, Budget(1.0))))


def test_bins_may_differ_by_column() -> None:
    schema = Schema({"x": Number(0, 1), "y": Number(0, 1), "z": Number(0, 1)})
    data = PrivateData.of(rng.uniform(0, 1, (50, 3)), schema, Budget(1.0))
    assert contingency(data, ("x", "y", "z"), bins={"x": 2, "z": 5}, epsilon=1.0).counts.shape == (2, 10, 5)


def test_no_record_is_an_answer() -> None:
    nobody = PrivateData.of({name: [] for name in VISITS}, SCHEMA, Budget(1.0))
    assert contingency(nobody, COLUMNS, bins=3, epsilon=1.0).counts.shape == (2, 3, 3)


def test_a_table_is_printed_and_escaped() -> None:
    schema = Schema({"<i>": Category(("<b>", "b")), "x": Number(0, 1)})
    data = PrivateData.of({"<i>": ["<b>"], "x": [0.5]}, schema, Budget(1.0))
    table = contingency(data, ("<i>", "x"), bins=2, epsilon=1.0)
    lines = str(table).splitlines()
    assert lines[0] == "<i> by x (95% for these data)"
    assert len(lines) == 1 + 1 + 4
    assert "<i>" not in table._repr_html_()
    assert "<th>&lt;b&gt;</th>" in table._repr_html_()


def test_a_large_table_is_not_printed_cell_by_cell() -> None:
    table = contingency(visits(0, Budget(1.0)), ("sex", "age", "ward"), bins=1000, epsilon=1.0)
    assert str(table).endswith("... and 5,960 more")
    assert table._repr_html_().count("<tr>") < 100


def test_a_data_frame_has_a_row_for_each_cell() -> None:
    table = released(2, Budget(1.0))
    frame = table.to_pandas()
    assert frame.loc[("m", "[30, 60)", "b"), "count"] == table.counts[1, 1, 1]
    assert len(table.marginal(()).to_pandas()) == 1
    assert table.standard_error is not None
    np.testing.assert_allclose(table.standard_error, table.stddev)


def test_for_a_population_an_interval_holds_the_expected_counts() -> None:
    """Of 400 Poisson samples of 18 cells: fewer than 93 % of the intervals have chance below 1e-6."""
    spread, receipt, domain = released(0, Budget(1.0)).spread, released(0, Budget(1.0)).receipt, DOMAIN
    means, draw, hits = np.geomspace(0.05, 2000, 18), np.random.default_rng(1), []
    for _ in range(400):
        counts = draw.poisson(means).astype(np.float64) + np.rint(draw.laplace(scale=1.0, size=18))
        low, high = ContingencyTable.of(domain, Released(counts, spread, receipt), population=True).interval
        hits.append((low <= means) & (means <= high))
    assert 0.93 <= np.mean(hits) <= 0.99
    assert np.mean(hits, axis=0).min() > 0.9
    alone = contingency(visits(0, Budget(1.0)), COLUMNS, bins=3, population=True, confidence=0.5)
    assert "50% for the population" in str(alone)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = visits(0, Budget(2.0))
    mistakes: list[Callable[[PrivateData], Any]] = [
        lambda data: contingency(data, ("sex", "sex"), epsilon=1.0),
        lambda data: contingency(data, (), epsilon=1.0),
        lambda data: contingency(data, 7, epsilon=1.0),  # type: ignore[arg-type]
        lambda data: contingency(data, ("sex", "shoe"), epsilon=1.0),
        lambda data: contingency(data, ("sex", "note"), epsilon=1.0),
        lambda data: contingency(data, ("sex", "age"), bins=0, epsilon=1.0),
        lambda data: contingency(data, ("sex", "age"), bins={"age": -1}, epsilon=1.0),
        lambda data: contingency(data, ("sex", "age"), bins={"sex": 3}, epsilon=1.0),
        lambda data: contingency(data, ("sex", "age"), bins={"shoe": 3}, epsilon=1.0),
        lambda data: contingency(data, ("sex", "age"), epsilon=3.0),
    ]
    for wrong in mistakes:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    contingency(data, ("sex",), epsilon=2.0)


def test_a_table_of_too_many_cells_names_the_ways_out() -> None:
    with pytest.raises(ParameterError, match=r"marginals.*frequent_cells") as refusal:
        contingency(visits(0, Budget(1.0)), ("age", "sex"), bins=MOST_CELLS, epsilon=1.0)
    assert refusal.value.size == 2 * MOST_CELLS  # type: ignore[attr-defined]


def test_a_marginal_that_is_none_is_refused() -> None:
    table = released(0, Budget(1.0))
    for columns in (["shoe"], ["sex", "sex"]):
        with pytest.raises(ParameterError, match="Name some of sex, age, ward"):
            table.marginal(columns)
