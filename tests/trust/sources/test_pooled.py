"""A pooled unit brings all its rows and moves a sum by one bound, wherever the rows are and in whatever order."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.core.bound import ORDER, Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError, SchemaError
from discreet.core.grid import Grid
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.columns.total import total_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.count import count
from discreet.statistics.moments.grouped import grouped
from discreet.statistics.moments.mean import mean
from discreet.statistics.tables.histogram import histogram
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources import engine
from discreet.trust.sources import source as source_module
from discreet.trust.sources.pooled import unit_rows
from discreet.trust.sources.source import Source
from discreet.trust.sources.source_of import source_of
from tests.trust.sources.tables import (
    COST,
    FORMS,
    NUMBERS,
    ROWS,
    SCHEMA,
    Table,
    exact_sums,
    numbers_table,
    questions,
    table,
)

PERSON = Unit("user", column="who", pooled=True)
SHUFFLED = np.random.default_rng(3).permutation(ROWS).tolist()


def without_texts(schema: Schema) -> Schema:
    return Schema({name: kind for name, kind in schema.columns.items() if name != "town"})


TEXTS_OF, NUMBERS_OF = without_texts(SCHEMA), without_texts(NUMBERS)


def pooled(source: Source) -> dict[str, Any]:
    return {**exact_sums(source), "units": source.units(), "rows": source.units_by_rows(9).tolist()}


@cache
def expected(kind: str) -> dict[str, Any]:
    if kind == "texts":
        return pooled(source_of(table(), TEXTS_OF, PERSON))
    return pooled(source_of(numbers_table(), NUMBERS_OF, PERSON))


@pytest.mark.parametrize("form", FORMS)
def test_every_source_pools_to_the_last_bit(form: str, tmp_path: Path) -> None:
    assert pooled(source_of(FORMS[form](table(), tmp_path), TEXTS_OF, PERSON)) == expected("texts")


@pytest.mark.parametrize("form", ["polars", "csv", "parquet", "relation", "query"])
def test_so_it_does_where_an_engine_decodes(form: str, tmp_path: Path) -> None:
    assert pooled(source_of(FORMS[form](numbers_table(SHUFFLED), tmp_path), NUMBERS_OF, PERSON)) == expected("numbers")


@pytest.mark.parametrize(
    ("form", "threads"), [("mapping", 1), ("arrow", 4), ("csv folder", 1), ("parquet folder", 4), ("relation", 1)]
)
def test_order_batches_and_threads_do_not_matter(
    form: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest unit has more rows than a batch."""
    monkeypatch.setattr(source_module, "BATCH", 41)
    monkeypatch.setattr(engine, "THREADS", threads)
    assert pooled(source_of(FORMS[form](table(SHUFFLED), tmp_path), TEXTS_OF, PERSON)) == expected("texts")


def test_a_sum_is_that_of_units_that_are_clipped_one_by_one() -> None:
    """Without any source: decode by hand, add integers, clip each unit alone."""
    records, question = table(), questions(TEXTS_OF)["moments 2 False"]
    brought: dict[str, Any] = defaultdict(lambda: np.zeros(3, dtype=object))
    for who, cost in zip(records["who"], records[COST], strict=True):
        name = {"7.0": "7"}.get((who or "").strip(), (who or "").strip())
        value = np.nan if cost is None or not np.isfinite(cost) else min(max(cost, -20.0), 100.0)
        if name:
            brought[name] += [int(step) for step in question.steps(np.array([[value]]))[0]]
    total = np.zeros(3, dtype=object)
    for steps in brought.values():
        inside = question.bound.clip(np.ldexp(steps.astype(np.float64)[None], question.grid.exponent))
        total += [int(step) for step in question.grid.cut(inside)[0]]
    assert expected("texts")["moments 2 False"] == total.tolist()
    assert expected("texts")["units"] == len(brought) == sum(expected("texts")["rows"])


def distance(question: BoundedSum, one: Any, other: Any) -> float:
    moved = question.grid.values(np.array(one) - np.array(other))
    return float(np.linalg.norm(moved, ORDER[question.bound.norm]))


@pytest.mark.parametrize("seed", range(8))
def test_a_whole_unit_moves_a_sum_by_one_bound_at_most(seed: int) -> None:
    """Random tables: few units with many rows and all kinds of values; each unit is taken away in turn."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 200))
    records: Table = {
        "who": [f"p{n}" for n in rng.integers(0, rng.integers(1, 9), rows)],
        COST: (rng.standard_cauchy(rows) * 50).tolist(),
        "days": [None if n > 30 else float(n) for n in rng.integers(0, 40, rows)],
        "kind": list(rng.choice(np.array(["f", "m", "Zoë", "?", None], dtype=object), rows)),
    }
    asked = [*questions(TEXTS_OF).values(), total_of(TEXTS_OF, COST, 0.0)]
    asked += [question.for_unit(PERSON) for question in asked]
    whole = source_of(records, TEXTS_OF, PERSON)
    for name in set(records["who"]):
        rest = [row for row in range(rows) if records["who"][row] != name]
        less = source_of({key: [column[row] for row in rest] for key, column in records.items()}, TEXTS_OF, PERSON)
        for question in asked:
            one, other = whole.sum(question), less.sum(question)
            size = len(one)
            assert distance(question, one, other) <= question.bound.radius * question.bound.rounding(size)


def test_a_unit_with_many_rows_reaches_the_bound_and_stays_there() -> None:
    schema = Schema({"x": Number(0, 1)})
    ones = BoundedSum(lambda records: np.ones((len(records), 2)), Bound("l2", 2.0), ("x",), grid=Grid(-20))
    few, many = ({"who": ["a"] * rows, "x": [1.0] * rows} for rows in (2, 10**5))
    reached = [np.linalg.norm(ones.grid.values(source_of(rows, schema, PERSON).sum(ones))) for rows in (few, many)]
    assert reached == pytest.approx([2.0, 2.0], abs=1e-5)
    assert max(reached) <= 2.0


def test_a_missing_value_adds_nothing_and_a_missing_unit_nothing_at_all() -> None:
    schema = Schema({"x": Number(0, 1)})
    question = total_of(schema, "x", 0.0)
    rows = {"who": ["a", "a", None, "", "b"], "x": [0.25, None, 1.0, 1.0, float("nan")]}
    source = source_of(rows, schema, PERSON)
    assert question.grid.values(source.sum(question)) == [0.25]
    assert source.units() == 2


@pytest.mark.parametrize("form", ["mapping", "arrow", "csv", "relation"])
def test_without_units_there_is_nothing(form: str, tmp_path: Path) -> None:
    rows: Table = {"who": [None, None], "x": [1.0, 2.0]}
    schema = Schema({"x": Number(0, 9)})
    source = source_of(FORMS[form](rows, tmp_path), schema, PERSON)
    assert source.units() == 0
    assert source.sum(total_of(schema, "x", 0.0)).tolist() == [0]


@pytest.mark.parametrize("form", ["mapping", "arrow"])
def test_nothing_but_sums_is_given(form: str, tmp_path: Path) -> None:
    source: Any = source_of(FORMS[form](table(), tmp_path), TEXTS_OF, PERSON)
    with pytest.raises(NotPermitted, match="not the number of their rows"):
        list(source.batches((COST,)))
    with pytest.raises(NotPermitted, match="not the number of their rows"):
        list(source.keys("kind"))


@pytest.mark.parametrize("form", ["mapping", "arrow", "csv", "parquet", "relation", "query"])
def test_text_columns_are_refused_before_anything_is_charged(form: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="Leave the text columns out"):
        source_of(FORMS[form](table(), tmp_path), SCHEMA, PERSON)


def test_a_matrix_and_local_trust_know_no_pooled_units() -> None:
    with pytest.raises(ParameterError, match="no column that identifies units"):
        source_of(np.zeros((2, 1)), Schema({"x": Number(0, 1)}), PERSON)
    frame: Any = source_of(table(), TEXTS_OF, PERSON)
    with pytest.raises(ParameterError, match="one record per person"):
        Local(frame)


def test_a_pooled_unit_has_a_column_and_no_number_of_rows() -> None:
    for wrong in ({"kind": "node"}, {"kind": "user", "column": "who", "rows": 2}):
        with pytest.raises(ParameterError, match="pooled"):
            Unit(**wrong, pooled=True)
    with pytest.raises(ParameterError):
        Unit(pooled=True)


def test_units_that_an_engine_gives_out_of_order_are_an_error() -> None:
    batches = [
        pa.record_batch([pa.array([1.0, 1.0]), pa.array(units)], names=["c0", "n"]) for units in ([1, 2], [1, 2])
    ]
    with pytest.raises(DiscreetError, match="order"):
        list(unit_rows(batches, 1))
    first = [rows.first.tolist() for rows in unit_rows([batches[0], batches[0].slice(1)], 1)]
    assert first == [[True, True], [False]]


def visits(unit: Unit) -> PrivateData:
    """A thousand people with one visit each, and a hundred with a hundred each."""
    query = """
        SELECT range AS who, 0 AS ward, 10.0 AS stay FROM range(1000)
        UNION ALL SELECT 1000 + range % 100, 1, 30.0 FROM range(10000)
    """
    schema = Schema({"ward": Category(("0", "1")), "stay": Number(0, 50)})
    return PrivateData.of((duckdb.connect(), query), schema, Budget(1.0), unit=unit)


def test_a_pooled_unit_weighs_as_one_record_and_gets_the_noise_of_one() -> None:
    """Laplace noise of scale one or two: a deviation of 40 has probability below 1e-8."""
    alone, together, row = (visits(unit) for unit in (RECORD, PERSON, Unit("user", column="who")))
    found = count(together, "stay", epsilon=1.0)
    assert found.value == pytest.approx(1100, abs=40)
    assert (
        found.half_width == count(row, "stay", epsilon=1.0).half_width == count(alone, "stay", epsilon=1.0).half_width
    )
    assert "all rows of each bounded together" in str(found.receipt)


def test_a_unit_in_several_cells_is_shared_among_them() -> None:
    """A histogram counts in whole numbers, of which a shared unit would leave none."""
    schema = Schema({"ward": Category(("a", "b"))})
    rows = {"who": [n // 10 for n in range(10_000)], "ward": ["a", "b", "b", "b", "b"] * 2000}
    found = histogram(PrivateData.of(rows, schema, Budget(1.0), unit=PERSON), "ward", epsilon=1.0)
    assert found.counts.tolist() == pytest.approx([200, 800], abs=40)
    question = contingency_of(schema, ("ward",), (0,))
    shared = question.for_unit(PERSON)
    assert question.for_unit(RECORD) is question
    assert shared.grid.values(source_of(rows, schema, PERSON).sum(shared)) == pytest.approx([200, 800], rel=1e-6)


def test_means_are_those_of_units() -> None:
    """Noise on the two sums moves a mean over 1100 people by less than 50 * 40 / 1100."""
    assert mean(visits(PERSON), "stay", epsilon=1.0).value == pytest.approx((1000 * 10 + 100 * 30) / 1100, abs=2)
    by_ward = grouped(visits(PERSON), "stay", by="ward", epsilon=1.0)
    assert by_ward.values.tolist() == pytest.approx([1000, 100], abs=40)
