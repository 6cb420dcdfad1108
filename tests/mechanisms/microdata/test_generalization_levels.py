"""Levels of hierarchies: they nest, missing values stay apart, and losses rise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from discreet.mechanisms.microdata.generalization_levels import (
    CalendarLevels,
    GeneralizationLevels,
    IntervalLevels,
    ListedLevels,
    on_level,
)

RANDOM = np.random.default_rng(5)
TIMES = RANDOM.integers(-3_000_000_000, 4_000_000_000, 500).astype(float)
CASES: list[tuple[GeneralizationLevels, np.ndarray[tuple[int], np.dtype[np.float64]]]] = [
    (IntervalLevels(-10.0, 10.0, (0.1, 0.3, 1.5)), np.round(RANDOM.uniform(-10, 10, 500), 1)),
    (IntervalLevels(0.0, 1e15, (16.0, 64.0)), RANDOM.uniform(0, 1e15, 500)),
    (CalendarLevels(-3e9, 4e9, 1, ("hour", "day", "month", "quarter", "year", "decade")), TIMES),
    (CalendarLevels(-40_000, 40_000, 86400, ("month", "year")), TIMES // 86400),
    (ListedLevels(6, ((0, 0, 1, 1, 2, 3), (0, 0, 0, 0, 1, 1))), RANDOM.integers(0, 6, 500).astype(float)),
]


def test_levels_nest_losses_rise_and_missing_values_stay_apart_up_to_the_last() -> None:
    for levels, column in CASES:
        values = np.append(column, np.nan)
        found = [on_level(levels, values, level) for level in range(len(levels.losses))]
        for fine, coarse in pairwise(found):
            pairs = np.unique(np.stack([fine, coarse], axis=1)[:-1], axis=0)
            assert len(np.unique(pairs[:, 0])) == len(pairs)
            assert (np.diff(pairs[:, 1]) >= 0).all() or isinstance(levels, ListedLevels)
        assert all(np.isnan(one).sum() == 1 for one in found[:-1])
        assert found[-1].tolist() == [0.0] * 501
        assert sorted(levels.losses) == list(levels.losses)
        assert levels.losses[0] == 0
        assert levels.losses[-1] == 1


def test_a_multiple_of_a_width_begins_its_interval() -> None:
    values = np.arange(-50, 50) / 10
    assert np.array_equal(IntervalLevels(-5.0, 5.0, (0.1,)).coarse(values, 1), np.arange(-50, 50))
    far = 16.0 * 10**12 + np.array([-1.0, 0.0, 15.0, 16.0])
    assert (IntervalLevels(0.0, 1e15, (16.0,)).coarse(far, 1) - 10**12).tolist() == [-1, 0, 0, 1]


def test_periods_are_those_of_the_calendar() -> None:
    days = np.array([np.datetime64(text, "D").astype(int) for text in ("1969-12-31", "2020-06-30", "2020-07-01")])
    levels = CalendarLevels(-40_000, 40_000, 86400, ("month", "quarter", "year", "decade"))
    found = [levels.coarse(days.astype(float), level).tolist() for level in (1, 2, 3, 4)]
    assert found == [[-1, 605, 606], [-1, 201, 202], [-1, 50, 50], [196, 202, 202]]


def test_losses_are_the_shares_of_other_values_that_a_value_is_merged_with() -> None:
    assert ListedLevels(4, ((0, 0, 0, 1),)).losses == (0.0, 0.5, 1.0)
    assert ListedLevels(1).losses == (0.0, 1.0)
    assert IntervalLevels(0.0, 10.0, (5.0, 20.0)).losses == (0.0, 0.5, 1.0, 1.0)
    assert CalendarLevels(0.0, 86400 * 365.2425 * 4, 1, ("hour", "year")).losses[2] == 0.25
