"""The grid of cells: what they stand for, and how far one row can drive two scores apart."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks.rank_grid import RANK, RankGrid, Target, reach

TOP = 5


@functools.cache
def distances(values: tuple[int, ...], share: float) -> np.ndarray:
    """The ranks between those of every cell and the target."""
    cells, given = np.arange(TOP + 1)[:, None], np.array(values, dtype=int)
    below, upto = ((test(given, cells)).sum(axis=1) for test in (np.less, np.less_equal))
    wanted = share * len(values)
    return np.maximum(below - wanted, wanted - upto)


def changes(share: float, neighbors: Neighbors) -> list[np.ndarray]:
    """How all distances change, over all neighbors of all data sets with up to five values."""
    found = []
    for number in range(6):
        for values in itertools.combinations_with_replacement(range(TOP + 1), number):
            before = distances(values, share)
            rests = [values[:i] + values[i + 1 :] for i in range(number)] if neighbors is Neighbors.REPLACE else []
            found += [
                distances(tuple(sorted((*rest, new))), share) - before
                for rest in (values, *rests)
                for new in range(TOP + 1)
            ]
    return found


@pytest.mark.parametrize("share", [0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
def test_the_reach_is_the_widest_that_one_row_drives_two_scores_apart(share: float) -> None:
    for neighbors in Neighbors:
        widest = float(np.ptp(np.array(changes(share, neighbors)), axis=1).max())
        assert widest <= reach(share, neighbors) / RANK
        if share != 0.125:  # too few values for it
            assert widest == pytest.approx(reach(share, neighbors) / RANK)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_a_row_that_changes_parts_is_paid_for_in_both(share: float) -> None:
    joined = reach(share, Neighbors.ADD_REMOVE)
    assert reach(share, Neighbors.REPLACE, parted=True) == 2 * joined
    assert reach(share, Neighbors.ADD_REMOVE, parted=True) == joined


def known_reach(share: float, neighbors: Neighbors) -> float:
    """The greatest change of a difference of scores: one row counts share on one side and 1 - share on the other."""
    if share in (0, 1):
        return 1.0
    return 2.0 if neighbors is Neighbors.REPLACE else 2 * max(share, 1 - share)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_the_scale_is_the_reach_of_all_rows_of_a_unit_over_epsilon(neighbors: Neighbors) -> None:
    for share, rows, epsilon in itertools.product((0.0, 0.125, 0.5, 0.9, 1.0), (1, 3), (0.5, 2.0)):
        found = Target.priced(share, epsilon, rows, neighbors).ranks
        assert found == pytest.approx(rows * known_reach(share, neighbors) / epsilon, rel=1e-8)


def test_the_scale_grows_with_the_rows_of_a_unit_and_falls_with_the_price() -> None:
    assert Target.priced(0.5, 0.5, 3, Neighbors.ADD_REMOVE).ranks == pytest.approx(6.0)
    assert Target.priced(0.9, 2.0, 1, Neighbors.ADD_REMOVE).ranks == pytest.approx(0.9)
    assert Target.priced(0.9, 2.0, 1, Neighbors.REPLACE).ranks == pytest.approx(1.0)


def test_a_cell_stands_for_the_value_that_it_was_nearest_to() -> None:
    grid = RankGrid(-1.0, 3.0, 8)
    values = np.array([-1.0, -0.6, 2.9, 3.0, -7.0, 99.0, np.nan])
    np.testing.assert_array_equal(grid.values(grid.nearest(values)), [-1.0, -0.5, 3.0, 3.0, -1.0, 3.0])


@pytest.mark.parametrize("cells", [1, 1000, 2**40, 2**50])
def test_the_last_cell_stands_for_the_upper_bound(cells: int) -> None:
    assert RankGrid(-0.1, 0.3, cells).values(np.array([0, cells])).tolist() == [-0.1, 0.3]


@pytest.mark.parametrize(
    ("lower", "upper", "cells"),
    [(1.0, 1.0, 10), (2.0, 1.0, 10), (0.0, np.inf, 10), (np.nan, 1.0, 10), (0.0, 1.0, 0), (0.0, 1.0, 2**51)],
)
def test_a_grid_without_meaning_is_refused(lower: float, upper: float, cells: int) -> None:
    with pytest.raises(ParameterError):
        RankGrid(lower, upper, cells)
