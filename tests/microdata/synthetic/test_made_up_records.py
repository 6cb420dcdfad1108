"""Made-up records: in no order, of values in their cells, and as constraints have it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discreet.microdata.synthetic.made_up_records import MadeUpRecords
from discreet.microdata.synthetic.number_cells import NumberCells
from discreet.questions.tables.coded_tables import TableCodes
from discreet.schema.condition_text import condition_of
from discreet.schema.schema import Category, Number, Schema

SCHEMA = Schema({"x": Number(0, 3, step=1), "kind": Category(("u", "v"))})
CELLS = {"x": NumberCells.few(SCHEMA.number("x"), 16)}
CODES = TableCodes.of(SCHEMA, ("x", "kind"), (CELLS["x"].edges, ()))  # type: ignore[union-attr]


def in_order(rows: int, generator: np.random.Generator) -> np.ndarray:
    """Cells of both columns, one after another; the last of each is that of missing values."""
    return np.column_stack([np.arange(rows) * 5 // rows, np.arange(rows) * 3 // rows])


def drawn(rows: int | None, *constraints: str, total: float = 3000.4) -> np.ndarray:
    model: Any = SimpleNamespace(codes=CODES, total=total, counted_out=in_order)
    conditions = tuple(condition_of(text, SCHEMA) for text in constraints)
    made = MadeUpRecords(model, CELLS, conditions)  # type: ignore[arg-type]
    return made.drawn(rows, np.random.default_rng(1))


def test_rows_are_in_no_order_whatever_the_order_of_the_model() -> None:
    """The correlation of 3000 values with their places has a deviation of 0.018."""
    records = drawn(None)
    assert len(records) == 3000
    for column in records.T:
        there = ~np.isnan(column)
        assert abs(np.corrcoef(column[there], np.flatnonzero(there))[0, 1]) < 5 / np.sqrt(there.sum())


def test_noise_does_not_make_a_table_that_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.microdata.synthetic.made_up_records.MOST_VALUES", 1000)
    assert drawn(None, total=2.0**24).shape == (500, 2)
    assert len(drawn(600, total=2.0**24)) == 600


def test_a_cell_has_its_value_and_the_last_one_none() -> None:
    records = drawn(1500)
    cells, counts = np.unique(records[:, 0], return_counts=True)
    assert counts.tolist() == [300] * 5
    np.testing.assert_array_equal(cells, [0, 1, 2, 3, np.nan])
    assert np.isnan(records[:, 1]).sum() == 500


def test_constraints_are_fulfilled_and_a_missing_value_contradicts_none() -> None:
    records = drawn(1500, "x >= 2 or kind == 'v'")
    x, kind = records.T
    assert len(records) == 1500
    assert ((x >= 2) | (kind == 1) | np.isnan(x) | np.isnan(kind)).all()
    assert np.isnan(x).any()
    assert not np.isnan(drawn(1500, "x is not null")[:, 0]).any()


def test_where_no_record_fulfils_a_constraint_there_are_none() -> None:
    assert drawn(100, "x > 3 and x is not null").shape == (0, 2)
