"""The grid of cells: what they stand for, and how far one row can drive two scores apart."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks.rank_grid import RANK, OrderStatistic, RankGrid, Target, reach

TOP = 5
Values = tuple[int, ...]
HIGHEST, MOST = 4, 6


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


def order_neighbors_of(values: Values, relation: Neighbors) -> Iterator[Values]:
    """Under replace a value may turn missing, or the reverse."""
    for new in range(HIGHEST + 1):
        yield tuple(sorted((*values, new)))
    for i in range(len(values)):
        rest = values[:i] + values[i + 1 :]
        yield rest
        if relation is Neighbors.REPLACE:
            for new in range(HIGHEST + 1):
                yield tuple(sorted((*rest, new)))


def every_data_set(most: int = MOST) -> list[Values]:
    return [
        values
        for number in range(most + 1)
        for values in itertools.combinations_with_replacement(range(HIGHEST + 1), number)
    ]


def statistic(values: Values, share: float, top: int = HIGHEST) -> OrderStatistic:
    return OrderStatistic(np.array(values, dtype=np.int64), share, top)


@functools.cache
def value(values: Values, share: float) -> int:
    return statistic(values, share).value


def moves(values: Values, share: float, relation: Neighbors) -> int:
    """The farthest that one row moves the value: the local sensitivity."""
    return max(abs(value(other, share) - value(values, share)) for other in order_neighbors_of(values, relation))


def test_it_is_the_least_value_with_this_share_at_or_below() -> None:
    values = np.random.default_rng(0).integers(0, 50, 37)
    for share in (0.0, 0.25, 0.5, 0.8, 1.0):
        found = OrderStatistic(np.sort(values), share, 50).value
        assert found == np.quantile(values, share, method="inverted_cdf")
        assert OrderStatistic(np.array([], dtype=np.int64), share, 50).value == 25


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.75, 1.0])
def test_the_bound_is_smooth_and_no_row_moves_the_value_farther(share: float) -> None:
    """Under replace, which has all neighbors that add/remove has here."""
    for beta in (0.2, 1.0):
        bounds = {values: statistic(values, share).smooth_bound(beta) for values in every_data_set()}
        for values, bound in bounds.items():
            assert moves(values, share, Neighbors.REPLACE) <= bound * (1 + 1e-12)
            near = [bounds[other] for other in set(order_neighbors_of(values, Neighbors.REPLACE)) if other in bounds]
            assert bound <= math.exp(beta) * min(near) * (1 + 1e-12)


@pytest.mark.parametrize("number", [3, 4, 5])
def test_for_the_median_of_a_public_number_it_is_the_least_smooth_bound(number: int) -> None:
    """The largest move of any data set, less the farther it is: by walking all data sets of this size."""
    beta, sets = 0.3, [values for values in every_data_set() if len(values) == number]
    jumps = {
        values: max(
            abs(statistic(other, 0.5).value - statistic(values, 0.5).value)
            for other in order_neighbors_of(values, Neighbors.REPLACE)
            if len(other) == number
        )
        for values in sets
    }
    for values in sets:
        apart = {other: number - _common(values, other) for other in sets}
        least = max(jumps[other] * math.exp(-beta * apart[other]) for other in sets)
        assert statistic(values, 0.5).smooth_bound(beta) == pytest.approx(max(1.0, least))


def _common(first: Values, second: Values) -> int:
    return sum(min(first.count(value), second.count(value)) for value in set(first))


def test_it_is_the_maximum_over_all_windows() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        number, top = int(rng.integers(0, 30)), int(rng.integers(2, 2000))
        values = np.sort(rng.integers(0, top + 1, number))
        share, beta = float(rng.choice([0.0, 1.0, 0.5, rng.random()])), float(rng.choice([0.01, 0.1, 0.5, 2.0]))
        padded, target = [0, *values.tolist(), top], round(share * 2**28) / 2**28 * number
        slow = max(
            (padded[j] - padded[i]) * math.exp(-beta * (j - i - 1))
            for i, j in itertools.combinations(range(number + 2), 2)
            if i <= max(1, math.ceil(target)) and j >= target
        )
        assert OrderStatistic(values, share, top).smooth_bound(beta) == pytest.approx(max(1.0, slow), rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.8, 1.0])
def test_values_between_show_how_many_rows_a_jump_is_away(share: float) -> None:
    """Under replace, which has all neighbors that add/remove has here."""
    counts = {values: statistic(values, share).between(1) for values in every_data_set()}
    for values, count in counts.items():
        assert count == 0 or moves(values, share, Neighbors.REPLACE) <= 1
        near = set(order_neighbors_of(values, Neighbors.REPLACE))
        assert all(abs(counts[other] - count) <= 1 for other in near if other in counts)


def test_nothing_is_farther_apart_than_the_ends_of_the_line() -> None:
    assert statistic((0, 1), 0.5).between(HIGHEST) > 2**30
