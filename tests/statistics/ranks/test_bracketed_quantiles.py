"""Quantiles with the ends of their intervals, by one search: intervals that hold as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks.quantiles import Quantiles
from discreet.noise.deterministic import DeterministicBits
from discreet.statistics.ranks.bracketed_quantiles import BracketedQuantiles

LEVELS = (0.1, 0.5, 0.9)


def brackets(number: float, *, rows: int = 1, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> BracketedQuantiles:
    search = Quantiles(1.0, 9 * (0.0,), 0.0, 1000.0, 2**30)
    return BracketedQuantiles(LEVELS, 0.9, False, number, search, rows, neighbors)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_intervals_hold_as_often_as_they_say_and_not_much_more(neighbors: Neighbors) -> None:
    values, runs = np.random.default_rng(1).gamma(2.0, 100.0, 4000).clip(0, 1000), 400
    wanted = brackets(4000.0, neighbors=neighbors)
    released = wanted.mechanism.release(Records(values[:, None], 1, neighbors, copies=(runs,)), DeterministicBits(3))
    truth = np.quantile(values, LEVELS, method="inverted_cdf")
    ends = [wanted.read(one).ends for one in released]
    held = np.mean([(end[0] <= truth) & (truth <= end[1]) for end in ends if end is not None], axis=0)
    assert np.all(held >= 0.825)  # five standard deviations below 0.9
    assert np.all(held < 0.999)


def test_values_lie_between_the_ends_and_ends_beyond_all_ranks_are_the_bounds() -> None:
    wanted = brackets(2.0)  # noise moves ranks by more than there are records
    two = Records(np.full((2, 1), 5.0), 1, Neighbors.ADD_REMOVE)
    found = wanted.read(wanted.mechanism.release(two, DeterministicBits(1)))
    assert found.ends is not None
    assert np.all(found.ends[0] <= found.values)
    assert np.all(found.values <= found.ends[1])
    assert found.ends.tolist() == [3 * [0.0], 3 * [1000.0]]


def test_units_of_several_rows_have_wider_intervals() -> None:
    one, three = (np.diff(brackets(1e6, rows=rows).mechanism.q[:3]) for rows in (1, 3))
    assert np.all(three > 2.5 * one)


def test_the_price_is_that_of_the_search() -> None:
    assert brackets(100.0).mechanism.event == brackets(1e9).mechanism.event == brackets(1.0).search.event
