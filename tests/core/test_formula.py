"""A formula is arithmetic that somebody else does: the same operations, the same bits."""

from __future__ import annotations

import struct

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.core.formula import NOUGHT, Formula, Numbers, row_after_row

FINITE = st.floats(allow_nan=False, allow_infinity=False)
CONNECTION = duckdb.connect()


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


@given(FINITE)
def test_a_constant_keeps_its_bits(value: float) -> None:
    (found,) = CONNECTION.execute(f"SELECT {Formula.constant(value).sql}").fetchall()[0]
    assert bits(found) == bits(value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_constant_is_finite(value: float) -> None:
    with pytest.raises(ParameterError, match="finite"):
        Formula.constant(value)


def mixed(x: Numbers, y: Numbers, a: float, b: float) -> Numbers:
    return a - (b * (x - a)) / (y + b) + (x * y - a * x) * b


@settings(max_examples=200)
@given(*[st.floats(-1e6, 1e6)] * 4)
def test_numpy_and_an_engine_do_the_same(x: float, y: float, a: float, b: float) -> None:
    formula = mixed(Formula.column(0), Formula.column(1), a, b)
    query = f"SELECT {formula.sql} FROM (SELECT ?::DOUBLE AS c0, ?::DOUBLE AS c1)"
    (found,) = CONNECTION.execute(query, [x, y]).fetchall()[0]
    with np.errstate(all="ignore"):
        (expected,) = mixed(np.array([x]), np.array([y]), a, b)
    if np.isfinite(expected):
        assert bits(found) == bits(expected)


def test_numpy_numbers_leave_the_operators_to_a_formula() -> None:
    assert (np.float64(2.0) * Formula.column(0)).sql == (2.0 * Formula.column(0)).sql


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 30])
def test_a_place_is_what_searchsorted_finds(count: int) -> None:
    edges = np.sort(np.random.default_rng(count).integers(0, 12, count) / 3)
    values = np.r_[edges, edges + 1e-9, edges - 1e-9, -1.0, 99.0]
    place = Formula.column(0).place_among(edges).sql
    rows = CONNECTION.execute(f"SELECT {place} FROM (SELECT unnest(?::DOUBLE[]) AS c0)", [values.tolist()]).fetchall()
    np.testing.assert_array_equal([row[0] for row in rows], np.searchsorted(edges, values, side="right"))
    assert CONNECTION.execute(f"SELECT {place} FROM (SELECT NULL AS c0)").fetchall() == [(None,)]


def test_what_is_missing_can_stand_for_a_number() -> None:
    query = f"SELECT {Formula.column(0).otherwise(0.5).sql} FROM (SELECT unnest([1e0, NULL]) AS c0)"
    assert CONNECTION.execute(query).fetchall() == [(1.0,), (0.5,)]


def test_cells_are_numbered_row_after_row() -> None:
    first, second = Formula.category(0), Formula.category(1)
    number = row_after_row([(NOUGHT, 1), (first, 3), (second, 4), (NOUGHT, 2)]).sql
    query = f"SELECT {number} FROM (SELECT unnest([0, 2, 2]) AS c0, unnest([3, 0, NULL]) AS c1)"
    assert CONNECTION.execute(query).fetchall() == [(6,), (16,), (None,)]
    there = NOUGHT.where(Formula.column(1))
    query = f"SELECT {row_after_row([(first, 3), (there, 1)]).sql} FROM (SELECT 2 AS c0, unnest([1, NULL]) AS c1)"
    assert CONNECTION.execute(query).fetchall() == [(2,), (None,)]
