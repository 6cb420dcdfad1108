"""Cells of a table: the right ones, for conditions, for records and for engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.schema import Category, Number, Schema
from discreet.questions.workload import Cells, table_of, workload_of
from discreet.trust.sources.opening import source_of

SCHEMA = Schema({"age": Number(0, 80), "sex": Category(("f", "m")), "height": Number(100, 200)})
rng = np.random.default_rng(0)
TABLE: dict[str, Any] = {
    "age": np.append(rng.uniform(-10, 90, 997), [np.nan, 80.0, 20.0]),
    "sex": [*rng.choice(["f", "m", "?"], 999).tolist(), None],
    "height": rng.normal(170, 15, 1000),
}
CELLS = Cells.of(SCHEMA, ("age", "sex"), bins=4)


def by_hand() -> np.ndarray:
    counts = np.zeros((4, 2), dtype=int)
    for age, sex in zip(TABLE["age"], TABLE["sex"], strict=True):
        if not np.isnan(age) and sex in ("f", "m"):
            counts[min(int(max(min(age, 80.0), 0.0) // 20), 3), "fm".index(sex)] += 1
    return counts


def test_records_fall_in_their_cells() -> None:
    steps = source_of(TABLE, SCHEMA).sum(table_of(SCHEMA, ("age", "sex"), 4))
    np.testing.assert_array_equal(steps.reshape(CELLS.shape), by_hand())


@pytest.mark.parametrize("columns", [("age", "sex"), ("sex", "height", "age"), ("sex",)])
def test_an_engine_finds_the_same_cells(columns: tuple[str, ...]) -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    question = table_of(SCHEMA, columns, 8)
    relation = duckdb.connect().from_df(pandas.DataFrame(TABLE))
    assert question.tally is not None
    np.testing.assert_array_equal(source_of(relation, SCHEMA).sum(question), source_of(TABLE, SCHEMA).sum(question))


def test_many_edges_are_left_to_numpy() -> None:
    assert table_of(SCHEMA, ("age",), 1000).tally is None


@pytest.mark.parametrize("weights", [rng.integers(0, 2, (5, 8)), rng.random((5, 8))], ids=["plain", "linear"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_what_a_record_counts_in_each_query_is_the_column_of_its_cell(weights: np.ndarray, norm: Any) -> None:
    question = workload_of(SCHEMA, ("age", "sex"), 4, weights.astype(float), norm)
    sums = question.grid.values(source_of(TABLE, SCHEMA).sum(question))
    np.testing.assert_allclose(sums, weights @ by_hand().ravel(), atol=1e-4)
    values = next(iter(source_of(TABLE, SCHEMA).batches(("age", "sex"))))  # type: ignore[attr-defined]
    np.testing.assert_array_equal(question.total(values), question.steps(values).sum(axis=0))  # type: ignore[misc]
    column = np.abs(weights).sum(axis=0) if norm == "l1" else np.sqrt(np.square(weights).sum(axis=0))
    assert question.bound.radius == pytest.approx(column.max())


def test_a_condition_names_cells_by_edges_and_values() -> None:
    table = np.arange(8).reshape(4, 2)
    cases: list[tuple[dict[str, Any], Any]] = [
        ({}, table.ravel()),
        ({"age": (20, 60)}, table[1:3].ravel()),
        ({"sex": "m"}, table[:, 1]),
        ({"sex": ["f", "m"], "age": (0.0, 20.0)}, table[0]),
        ({"age": (40, 40)}, []),
    ]
    for condition, expected in cases:
        assert np.flatnonzero(CELLS.where(condition)).tolist() == list(expected)


def test_marginals_are_all_cells_of_all_smaller_tables() -> None:
    ones, twos = list(CELLS.marginals(1)), list(CELLS.marginals(2))
    assert len(ones) == 4 + 2
    assert len(twos) == 8
    np.testing.assert_array_equal(sum(CELLS.where(one).astype(int) for one in ones), np.full(8, 2))
    np.testing.assert_array_equal(sum(CELLS.where(one).astype(int) for one in twos), np.ones(8))


@pytest.mark.parametrize(
    "condition", [{"age": (10, 20)}, {"sex": "x"}, {"weight": (0, 1)}, {"sex": ["f", "q"]}], ids=str
)
def test_conditions_that_name_no_cells_are_refused(condition: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        CELLS.where(condition)


@pytest.mark.parametrize(("columns", "bins"), [((), 4), (("age", "age"), 4), ("age", 4), (("age", "height"), 2000)])
def test_tables_without_meaning_are_refused(columns: Any, bins: int) -> None:
    with pytest.raises(ParameterError):
        Cells.of(SCHEMA, columns, bins)


def test_a_missing_number_is_in_no_cell() -> None:
    question = table_of(Schema({"x": Number(0, 4)}), ("x",), 4)
    rows = np.array([[np.nan], [3.5], [np.nan]])
    np.testing.assert_array_equal(question.steps(rows), [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    assert question.total is not None
    np.testing.assert_array_equal(question.total(rows), [0, 0, 0, 1])
