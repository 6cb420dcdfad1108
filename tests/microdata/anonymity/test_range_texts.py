"""Texts of ranges: no two are the same, whatever values look like."""

from __future__ import annotations

import numpy as np

from discreet.core.grid import Array
from discreet.microdata.anonymity.range_texts import ranged
from discreet.schema.dates import Date, Datetime
from discreet.schema.schema import Boolean, Category, Number


def every(size: int) -> Array:
    """All sets of neighbours in a list, with the missing value and without."""
    places = [(low, high, 1, miss) for low in range(size) for high in range(low, size) for miss in (0, 1)]
    return np.array([place for place in places if not place[3] or place[1] == size - 1], float)


def test_sets_are_told_apart_whatever_their_values_look_like() -> None:
    for values in (
        ("a", "b", "c"),
        ("a", "b", "{a, b}", "a, b", "c or missing", "c"),
        ("1", "2", "{1, 2}", "yes", "no"),
        tuple(str(i) for i in range(12)),
        ("x" * 4000, "y" * 4000, "z" * 4000),
        ("*", "missing", "{*, missing}", '"'),
    ):
        found = ranged(Category(values), every(len(values))).values
        assert len(set(found)) == len(every(len(values)))
    assert ranged(Boolean(), every(2)).values[:2] == ("false", "{false, true}")
    assert ranged(Category([str(i) for i in range(9)]), np.array([[1.0, 7.0, 1, 0]])).values == (
        "{1, ..., 7: 7 values}",
    )


def test_numbers_and_times_are_written_in_full() -> None:
    near = np.array([[1e15, 1e15 + 0.125, 0, 0], [1e15 + 0.125, 2e15, 1, 1]])
    assert ranged(Number(1e15, 2e15), near).values == (
        "[1000000000000000, 1000000000000000.1)",
        "[1000000000000000.1, 2000000000000000] or missing",
    )
    assert ranged(Number(0, 1e20), np.array([[0.1, 1e20, 1, 0]])).values == ("[0.1, 1e+20]",)
    day = float(np.datetime64("2020-02-29", "D").astype(int))
    assert ranged(Date("2020-01-01", "2020-12-31"), np.array([[day, day + 1, 0, 0]])).values == (
        "[2020-02-29, 2020-03-01)",
    )
    assert ranged(Datetime("2020-01-01", "2020-12-31"), np.array([[day * 86400, day * 86400 + 60, 0, 0]])).values == (
        "[2020-02-29T00:00:00, 2020-02-29T00:01:00)",
    )
