"""Axes: cells from the schema alone, and records in them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError, SchemaError
from discreet.core.schema import Category, Number, Schema, Text
from discreet.questions.domain import Axes, bins_of, codes_of, shape_of
from discreet.questions.histogram import MOST_BINS

SCHEMA = Schema({"sex": Category(("f", "m")), "age": Number(0, 90), "size": Number(0, 2), "note": Text()})


def test_bins_are_for_numbers_alone() -> None:
    assert bins_of(SCHEMA, ("sex", "age", "size"), 7) == (0, 7, 7)
    assert bins_of(SCHEMA, ("size", "age"), {"age": 3}) == (10, 3)
    assert shape_of(SCHEMA, ("sex", "age"), (0, 3)) == Axes.of(SCHEMA, ("sex", "age"), (0, 3)).shape == (2, 3)


@pytest.mark.parametrize("bins", [0, -3, 2.5, MOST_BINS + 1, float("nan"), {"age": 0}, {"sex": 4}, {"shoe": 4}])
def test_bins_that_are_none_are_refused(bins: object) -> None:
    with pytest.raises(ParameterError, match=r"bins|Give"):
        bins_of(SCHEMA, ("sex", "age"), bins)  # type: ignore[arg-type]


@pytest.mark.parametrize("columns", [(), ("age", "age"), "age"])
def test_columns_are_named_once(columns: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        bins_of(SCHEMA, columns, 3)


@pytest.mark.parametrize("columns", [("shoe",), ("age", "note")])
def test_columns_without_cells_are_refused(columns: tuple[str, ...]) -> None:
    with pytest.raises(SchemaError):
        bins_of(SCHEMA, columns, 3)


def test_codes_are_digits() -> None:
    places = np.stack(np.unravel_index(np.arange(24), (2, 3, 4)), axis=1)
    np.testing.assert_array_equal(codes_of(places, (2, 3, 4)), np.arange(24))
    assert codes_of(np.empty((5, 0), dtype=np.intp), ()).tolist() == [0] * 5


def test_values_at_the_ends_are_inside_and_missing_ones_nowhere() -> None:
    axes = Axes.of(SCHEMA, ("age", "sex"), (3, 0))
    records = np.array([[0.0, 0.0], [30.0, 0.0], [90.0, 1.0], [np.nan, 1.0], [5.0, np.nan]])
    np.testing.assert_array_equal(axes.places(records), [[0, 0], [1, 0], [2, 1]])
    assert axes.codes(np.empty((0, 2))).shape == (0,)
