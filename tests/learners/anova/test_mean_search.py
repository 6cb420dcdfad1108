"""A search for a mean by noisy sums of values near it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.learners.anova.mean_search import MeanSearch
from discreet.schema.schema import Number

ENDS = Number(-10.0, 100.0)


def searched(values: np.ndarray, search: MeanSearch, stddev: float, rounds: int = 8) -> float:
    rng = np.random.default_rng(0)
    for turn in range(1, rounds + 1):
        total = np.clip((values - search.place) / search.size, -1, 1).sum() + stddev * rng.normal()
        search.add(float(total), stddev, turn)
    return search.place


def test_it_finds_a_mean_far_from_where_it_began() -> None:
    values = np.random.default_rng(1).normal(20, 3, 1000)
    found = searched(values, MeanSearch(ENDS, 45.0, 20.0, 1000.0), 1e-3)
    assert found == pytest.approx(values.mean(), abs=1.0)


def test_where_noise_is_all_there_is_it_stays_near_where_it_began_and_inside_the_bounds() -> None:
    values = np.full(10, 90.0)
    places = [searched(values, MeanSearch(ENDS, 45.0, 20.0, 10.0), noise) for noise in (0.1, 100.0)]
    assert abs(places[0] - 45) > 20 > 5 > abs(places[1] - 45)
    low = MeanSearch(ENDS, -9.0, 20.0, 10.0)
    low.add(-10.0, 1e-6, 1)
    assert low.place == -10.0


def test_each_sum_is_about_the_place_that_was_found_before() -> None:
    search = MeanSearch(ENDS, 0.0, 10.0, 100.0)
    for turn, (total, expected) in enumerate(((50.0, 5.0), (0.0, 5.0), (50.0, 5 + 5 * 9 / 14)), 1):
        search.add(total, 1e-9, turn)
        assert search.place == pytest.approx(expected)
