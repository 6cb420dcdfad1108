"""Cells are where somebody chose them, and those of whole numbers hold equally many."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.questions.tables.cells import cut
from discreet.schema.dates import Date
from discreet.schema.schema import Category, Number, Schema

SCHEMA = Schema(
    {
        "age": Number(17, 90, step=1),
        "size": Number(0, 2),
        "day": Date("2020-01-01", "2020-03-31"),
        "sex": Category(("f", "m")),
    }
)


def test_cells_of_whole_numbers_hold_equally_many_values() -> None:
    """The histogram of a uniform column is flat, whatever number of cells is asked for."""
    values = np.arange(17.0, 91.0)[:, None]
    for bins in (1, 2, 7, 10, 37, 50, 74, 100, 1000):
        counts = np.bincount(cut(SCHEMA, ["age"], bins).codes(values))
        assert len(counts) <= bins
        assert len(set(counts[:-1].tolist())) <= 1
        assert 0 < counts[-1] <= counts[0]
    assert cut(SCHEMA, ["age"], 100).labels[0][:2] == ("17", "18")
    assert cut(SCHEMA, ["day"], 3).labels[0] == (
        "2020-01-01 to 2020-01-31",
        "2020-02-01 to 2020-03-02",
        "2020-03-03 to 2020-03-31",
    )


def test_numbers_without_a_step_have_cells_of_equal_width() -> None:
    found = cut(SCHEMA, ["size", "sex"], 4)
    np.testing.assert_array_equal(found.edges[0], [0, 0.5, 1, 1.5, 2])
    assert not found.named


def test_edges_are_those_that_are_given() -> None:
    by_hand: list[Any] = [datetime.date(2020, 1, 1), "2020-02-01", "2020-04-01"]
    found = cut(SCHEMA, ["day", "age", "sex"], edges={"day": by_hand, "age": [18, 25, 45, 98]})
    assert found.labels[0] == ("[2020-01-01, 2020-02-01)", "[2020-02-01, 2020-04-01]")
    assert found.labels[1] == ("[18, 25)", "[25, 45)", "[45, 98]")
    assert found.shape == (2, 3, 2)
    assert found.project(["age"]).labels == (found.labels[1],)


def test_edges_that_are_none_are_refused() -> None:
    wrong: list[Any] = [
        [1],
        [],
        [3, 2],
        [1, 1],
        [0, np.nan],
        [0, np.inf],
        "018",
        ["a", "b"],
        [None, 3],
        {"sex": [0, 1]},
    ]
    for edges in (*wrong, {"sex": [0, 1]}, {"absent": [0, 1]}, {"day": [3, 4]}, {"day": ["2020", "2021"]}):
        with pytest.raises(ParameterError):
            cut(SCHEMA, ["age", "sex"] if not isinstance(edges, dict) else ["age", "day", "sex"], edges=edges)
    with pytest.raises(ParameterError, match="2 of its columns are numbers"):
        cut(SCHEMA, ["age", "size"], edges=[1, 2])
