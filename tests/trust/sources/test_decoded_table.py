"""What DuckDB adds up is what numpy adds up, to the last step, whatever the bounds and values."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.core.bound import Bound
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.exact_sum import exact_sum
from discreet.trust.sources.columns.decoding import bounded
from discreet.trust.sources.decoded_table import DecodedTable

BOUNDS = [
    (0.0, 1.0),
    (-0.1, 0.3),
    (1e16, 1e16 + 2**23),
    (-1e43, 1e50),
    (0.0, 1e-50),
    (-(2.0**-1022), 3e-50),
    (1 / 3, 1 / 3 + 2.0**-31),
    (-7, 12),
]
GROUPS = ("a", "b", "c")


def records(lower: float, upper: float, rows: int = 3000) -> Array:
    """A category and a number, inside its bounds, with some of both missing."""
    rng = np.random.default_rng(1)
    shares = np.where(rng.random(rows) < 0.3, rng.random(rows) * 1e-12, rng.random(rows))
    values = np.clip((1 - shares) * lower + shares * upper, lower, upper)
    values[rng.random(rows) < 0.1] = np.nan
    values[:4] = [lower, upper, np.nextafter(lower, upper), np.nextafter(upper, lower)]
    groups = rng.integers(0, len(GROUPS) + 1, rows).astype(float)
    return np.column_stack([np.where(groups == len(GROUPS), np.nan, groups), values])


def table_of(matrix: Array, schema: Schema, connection: Any = None) -> DecodedTable:
    columns = [pa.array(column, from_pandas=True) for column in bounded(matrix, list(schema.columns), schema).T]
    whole = pa.table([columns[0].cast(pa.uint8()), *columns[1:]], names=[f"c{i}" for i in range(len(columns))])
    connection = connection or duckdb.connect()
    return DecodedTable("read a table", lambda: connection.from_arrow(whole), schema)


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_every_question_with_formulas_is_added_up_alike(lower: float, upper: float) -> None:
    schema = Schema({"kind": Category(GROUPS), "x": Number(lower, upper)})
    questions = [
        *(moments_of(schema, "x", degree, counted) for degree in (1, 2) for counted in (False, True)),
        *(grouped_moments_of(schema, "kind", "x", degree) for degree in (1, 2)),
        *(contingency_of(schema, ("x",), (bins,)) for bins in (1, 2, 7, 32)),
        contingency_of(schema, ("kind",), (0,)),
    ]
    matrix = records(lower, upper)
    table = table_of(matrix, schema)
    for question in questions:
        assert question.tally is not None
        assert question.columns is not None
        places = [list(schema.columns).index(column) for column in question.columns]
        chosen = bounded(matrix, list(schema.columns), schema)[:, places]
        steps = table.sum(question)
        np.testing.assert_array_equal(steps, exact_sum(question, [chosen]))
        np.testing.assert_array_equal(steps, question.steps(chosen).astype(np.int64).sum(axis=0))


def test_a_sum_beyond_64_bits_wraps_around_as_everywhere() -> None:
    schema = Schema({"kind": Category(GROUPS), "x": Number(0, 1)})
    fine = BoundedSum(
        lambda rows: np.nan_to_num(rows),
        Bound("linf", 1.0),
        ("x",),
        Grid(-62),
        tally=Tally(Formula.constant(0), 1, (Formula.column(0),)),
    )
    ones = np.column_stack([np.zeros(7), np.ones(7)])
    assert table_of(ones, schema).sum(fine).tolist() == exact_sum(fine, [ones[:, 1:]]).tolist() == [-(2**62)]


def test_no_rows_add_up_to_nothing_in_every_cell() -> None:
    schema = Schema({"kind": Category(GROUPS), "x": Number(0, 1)})
    empty = table_of(np.empty((0, 2)), schema)
    assert empty.sum(grouped_moments_of(schema, "kind", "x", 1)).tolist() == [0] * 6
    assert empty.units() == 0
    assert list(empty.batches(("x",))) == []


def test_a_question_without_formulas_is_read_in_batches() -> None:
    schema = Schema({"kind": Category(GROUPS), "x": Number(0, 1)})
    matrix = records(0.0, 1.0)
    question = BoundedSum(lambda rows: np.nan_to_num(rows) * [0.1, 1.0], Bound("l2", 1.0), ("kind", "x"))
    np.testing.assert_array_equal(table_of(matrix, schema).sum(question), exact_sum(question, [matrix]))
