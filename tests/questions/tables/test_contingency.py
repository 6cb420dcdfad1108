"""Marks in cells: the right ones, for records in memory and for engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.questions.tables.contingency import COMPARED, class_marginals_of, contingency_between_of, contingency_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources.source_of import source_of
from tests.questions.trial import SCHEMA, Trial, summed

PEOPLE = Schema({"age": Number(0, 80), "sex": Category(("f", "m")), "height": Number(100, 200)})
rng = np.random.default_rng(0)
TABLE: dict[str, Any] = {
    "age": np.append(rng.uniform(-10, 90, 997), [np.nan, 80.0, 20.0]),
    "sex": [*rng.choice(["f", "m", "?"], 999).tolist(), None],
    "height": rng.normal(170, 15, 1000),
}
CLASSES = {"columns": ("x", "two"), "bins": (4, 0), "target": "kind", "norm": "l2"}
TRIALS = {
    "contingency": Trial({"columns": ("kind", "x"), "bins": (0, 4)}, "59485a6d67f8"),
    "contingency_between": Trial(
        {"category": "kind", "number": "x", "edges": (-10.0, 0.0, 5.0, 110.0)},
        "6c44add38c2f",
        forged=[{"edges": (0.0,)}, {"edges": (1.0, 0.0)}, {"category": "x"}, {"number": "kind"}],
    ),
    "class_marginals": Trial(
        CLASSES,
        "269ba62fa175",
        forged=[{"bins": (4,)}, {"bins": (0, 0)}, {"norm": "linf"}, {"target": "x"}, {"columns": ("kind", "two")}],
    ),
}


def by_hand() -> np.ndarray:
    counts = np.zeros((4, 2), dtype=int)
    for age, sex in zip(TABLE["age"], TABLE["sex"], strict=True):
        if not np.isnan(age) and sex in ("f", "m"):
            counts[min(int(max(min(age, 80.0), 0.0) // 20), 3), "fm".index(sex)] += 1
    return counts


def test_records_fall_in_their_cells() -> None:
    steps = source_of(TABLE, PEOPLE).sum(contingency_of(PEOPLE, ("age", "sex"), (4, 0)))
    np.testing.assert_array_equal(steps.reshape(4, 2), by_hand())


def test_the_sum_of_one_column_is_its_histogram() -> None:
    """Whether cells are found by comparing with each edge or value by value; a value at an edge is above it."""
    for bins in (1, 2, COMPARED, COMPARED + 1, 1000):
        question = contingency_of(PEOPLE, ("age",), (bins,))
        edges = np.linspace(0, 80, bins + 1)
        values = np.concatenate([rng.uniform(0, 80, 500), edges, np.nextafter(edges[1:], -1), [-0.0]])
        records = np.append(values, np.nan)[:, None]
        assert question.total is not None
        np.testing.assert_array_equal(question.total(records), np.histogram(values, bins, (0, 80))[0])
        records = np.append(records, [[-np.inf], [np.inf]], axis=0)
        np.testing.assert_array_equal(question.steps(records).sum(axis=0), question.total(records))


def test_an_engine_finds_the_same_cells() -> None:
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    relation = duckdb.connect().from_df(pandas.DataFrame(TABLE))
    for columns, bins in ((("age", "sex"), (8, 0)), (("sex", "height", "age"), (0, 8, 32)), (("sex",), (0,))):
        question = contingency_of(PEOPLE, columns, bins)
        assert question.tally is not None
        np.testing.assert_array_equal(source_of(relation, PEOPLE).sum(question), source_of(TABLE, PEOPLE).sum(question))
    assert contingency_of(PEOPLE, ("age",), (1000,)).tally is None  # numpy is faster


def test_a_record_with_a_missing_value_is_in_no_cell() -> None:
    question = contingency_of(PEOPLE, ("sex", "age"), (0, 4))
    rows = np.array([[0.0, np.nan], [1.0, 70.0], [np.nan, 5.0]])
    expected = np.zeros((3, 8))
    expected[1, 7] = 1
    np.testing.assert_array_equal(question.steps(rows), expected)
    assert question.total is not None
    np.testing.assert_array_equal(question.total(rows), expected.sum(axis=0))


def test_the_tables_are_those_of_each_column_and_the_classes() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.uniform(-10, 110, 300), rng.integers(0, 2, 300), rng.integers(0, 3, 300)])
    records[:9, 0] = records[5:14, 1] = records[10:19, 2] = np.nan
    found = summed(class_marginals_of(SCHEMA, ("x", "two"), (4, 0), "kind", "l1"), records)
    first = summed(contingency_of(SCHEMA, ("x", "kind"), (4, 0)), records[:, [0, 2]])
    second = summed(contingency_of(SCHEMA, ("two", "kind"), (0, 0)), records[:, [1, 2]])
    np.testing.assert_array_equal(found, np.concatenate([first, second]))


def test_cells_between_edges_have_no_outer_ends() -> None:
    question = contingency_between_of(SCHEMA, "two", "x", (0.0, 10.0, 50.0))
    records = np.array([[0.0, -5.0], [0.0, 9.0], [1.0, 10.0], [1.0, 100.0], [np.nan, 3.0], [1.0, np.nan]])
    np.testing.assert_array_equal(summed(question, records).reshape(2, 2), [[2, 0], [0, 2]])
