"""Domains: cells from the schema alone, records in them, and conditions on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError, SchemaError
from discreet.questions.tables.domain import MOST_BINS, MOST_CELLS, Domain, codes_of, place_among
from discreet.schema.schema import Category, Number, Schema, Text

SCHEMA = Schema({"sex": Category(("f", "m")), "age": Number(0, 80), "size": Number(0, 2), "note": Text()})
DOMAIN = Domain.of(SCHEMA, ("age", "sex"), 4)


def test_bins_are_for_numbers_alone() -> None:
    assert Domain.of(SCHEMA, ("sex", "age", "size"), 7).bins == (0, 7, 7)
    assert Domain.of(SCHEMA, ("size", "age"), {"age": 3}).bins == (10, 3)
    found = Domain.of(SCHEMA, ("sex", "age"), (0, 3))
    assert found.shape == tuple(map(len, found.labels)) == (2, 3)
    assert found.size == 6


def test_what_has_no_cells_is_refused() -> None:
    columns = ("sex", "age")
    bins: list[Any] = [0, -3, 2.5, MOST_BINS + 1, float("nan"), {"age": 0}, {"sex": 4}, {"shoe": 4}, [3], None]
    cases: list[tuple[Any, Any, type[Exception]]] = [
        *((columns, one, ParameterError) for one in (*bins, (0,), (1, 3), (0, 0), (0, 3, 3))),
        *((one, 3, ParameterError) for one in ((), ("age", "age"), "age")),
        *((one, 3, SchemaError) for one in (("shoe",), ("age", "note"))),
    ]
    for names, one, error in cases:
        with pytest.raises(error, match="Nothing was released or spent"):
            Domain.of(SCHEMA, names, one)
    assert Domain.of(SCHEMA, ("age", "size"), 2000).size > MOST_CELLS
    with pytest.raises(ParameterError):
        Domain.listed(SCHEMA, ("age", "size"), 2000)


def test_codes_are_digits() -> None:
    places = np.stack(np.unravel_index(np.arange(24), (2, 3, 4)), axis=1)
    np.testing.assert_array_equal(codes_of(places, (2, 3, 4)), np.arange(24))
    assert codes_of(np.empty((5, 0), dtype=np.intp), ()).tolist() == [0] * 5


def test_values_at_the_ends_are_inside_and_missing_ones_nowhere() -> None:
    records = np.array([[0.0, 0.0], [20.0, 0.0], [80.0, 1.0], [np.nan, 1.0], [5.0, np.nan]])
    np.testing.assert_array_equal(DOMAIN.places(records), [[0, 0], [1, 0], [3, 1]])
    np.testing.assert_array_equal(DOMAIN.codes(records), [0, 2, 7])
    np.testing.assert_array_equal(DOMAIN.project(["age"]).codes(records[:, :1]), [0, 1, 3, 0])
    assert DOMAIN.codes(np.empty((0, 2))).shape == (0,)


def test_a_division_finds_the_same_cells_as_a_search() -> None:
    rng = np.random.default_rng(0)
    for lower, upper, bins in (
        (0, 1, 3),
        (-10, 110, 4096),
        (1e6, 1e6 + 1, 1000),
        (-1e-9, 3e40, 77),
        (2, 2 + 1e-9, 999),
    ):
        edges = np.linspace(lower, upper, bins + 1)
        beside = [np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]
        values = np.concatenate([edges, *beside, rng.uniform(lower, upper, 1000), [-1e300, 1e300, np.inf, -np.inf]])
        np.testing.assert_array_equal(place_among(edges, values), np.searchsorted(edges[1:-1], values, side="right"))


AGES: list[Any] = [20, None, "20", (20,), (0, 20, 40), ("0", "20"), (True, False), (0, math.nan), {}]
SEXES: list[Any] = [1, None, [["f"]], ["f", 3], {"m": 1, "q": 2}]
WRONG: list[dict[str, Any]] = [
    *({"age": one} for one in [(10, 20), *AGES]),
    *({"sex": one} for one in ["x", ["f", "q"], *SEXES]),
    {"weight": (0, 1)},
]


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
        assert np.flatnonzero(DOMAIN.where(condition)).tolist() == list(expected)
    for wrong in WRONG:
        with pytest.raises(ParameterError):
            DOMAIN.where(wrong)


def test_marginals_are_all_cells_of_all_smaller_tables() -> None:
    ones, twos = list(DOMAIN.marginals(1)), list(DOMAIN.marginals(2))
    assert len(ones) == 4 + 2
    assert len(twos) == 8
    np.testing.assert_array_equal(sum(DOMAIN.where(one).astype(int) for one in ones), np.full(8, 2))
    np.testing.assert_array_equal(sum(DOMAIN.where(one).astype(int) for one in twos), np.ones(8))


def test_a_projection_keeps_some_columns_in_any_order() -> None:
    assert DOMAIN.project(["sex", "age"]).shape == (2, 4)
    assert DOMAIN.project([]).size == 1
    for columns in (["age", "age"], ["size"], "age"):
        with pytest.raises(ParameterError, match="as it was"):
            DOMAIN.project(columns)
