"""Cuts between two values: above the one, up to the other, and round."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.grid import Array
from discreet.mechanisms.microdata.equivalence_classes import Ranked
from discreet.mechanisms.microdata.round_cuts import Scale

NUMBERS = st.floats(-1e50, 1e50, allow_nan=False)
ANY = Scale("number", -1e50, 1e50)


def between(scale: Scale, low: float, high: float) -> float:
    return float(scale.between(np.array([low]), np.array([high]))[0])


@settings(max_examples=300, deadline=None)
@given(st.tuples(NUMBERS, NUMBERS).filter(lambda pair: pair[0] != pair[1]))
def test_a_cut_is_above_the_one_value_and_not_above_the_other(pair: tuple[float, float]) -> None:
    low, high = min(pair), max(pair)
    assert low < between(ANY, low, high) <= high


def test_cuts_are_round() -> None:
    for low, high, cut in (
        (17.25, 23.5, 20.0),
        (95.0, 105.0, 100.0),
        (0.123456, 0.123789, 0.1237),
        (-7.3, -2.2, -3.0),
        (-3.0, 4.0, 0.0),
        (30.0, 31.0, 31.0),
        (1e15, 1e15 + 0.125, 1e15 + 0.125),
        (123456.0, 987654.0, 900000.0),
    ):
        assert between(ANY, low, high) == cut


def test_times_are_cut_at_the_first_of_a_period() -> None:
    def day(text: str) -> float:
        return float(np.datetime64(text, "D").astype(int))

    date = Scale("date", day("1900-01-01"), day("2099-12-31"))
    assert between(date, day("2019-05-07"), day("2021-03-04")) == day("2021-01-01")
    assert between(date, day("2021-01-07"), day("2021-03-04")) == day("2021-03-01")
    assert between(date, day("2021-03-02"), day("2021-03-04")) == day("2021-03-04")
    assert between(date, day("1950-03-02"), day("1955-03-04")) == day("1955-01-01")
    second = Scale("datetime", 0.0, 1e10)
    assert between(second, 86400.0 * 3 + 7000, 86400.0 * 3 + 7300) == 86400.0 * 3 + 7200


def ranges(column: Array, low: list[list[int]], high: list[list[int]]) -> tuple[Array, Array]:
    return Scale("number", 0.0, 100.0).ranges(Ranked.of(column), np.array(low), np.array(high))


def test_ranges_leave_no_gap_and_missing_values_have_one_of_their_own() -> None:
    column = np.array([12.0, 34.0, 56.0, np.nan])
    bounds, own = ranges(column, [[-1, 0], [0, 1], [2, 3]], [[0, 1], [2, 3], [3, 4]])
    assert bounds.tolist() == [[0, 30, 0, 0], [30, 100, 1, 0]]
    assert own[:2].tolist() == [0, 1]
    assert np.isnan(own[2])
    assert ranges(column, [[0, 1]], [[3, 4]])[0].tolist() == [[30, 100, 1, 1]]


def test_a_cut_at_the_upper_bound_leaves_it_outside() -> None:
    bounds, _ = ranges(np.array([99.5, 100.0]), [[-1, 0], [0, 1]], [[0, 1], [1, 2]])
    assert bounds.tolist() == [[0, 100, 0, 0], [100, 100, 1, 0]]
