"""An order statistic and its smooth bound, against every data set of a small line."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks.order_statistic import OrderStatistic

Values = tuple[int, ...]
TOP, MOST = 4, 6


def neighbors_of(values: Values, relation: Neighbors) -> Iterator[Values]:
    """Under replace a value may turn missing, or the reverse."""
    for new in range(TOP + 1):
        yield tuple(sorted((*values, new)))
    for i in range(len(values)):
        rest = values[:i] + values[i + 1 :]
        yield rest
        if relation is Neighbors.REPLACE:
            for new in range(TOP + 1):
                yield tuple(sorted((*rest, new)))


def every_data_set(most: int = MOST) -> list[Values]:
    return [
        values
        for number in range(most + 1)
        for values in itertools.combinations_with_replacement(range(TOP + 1), number)
    ]


def statistic(values: Values, share: float, top: int = TOP) -> OrderStatistic:
    return OrderStatistic(np.array(values, dtype=np.int64), share, top)


@functools.cache
def value(values: Values, share: float) -> int:
    return statistic(values, share).value


def moves(values: Values, share: float, relation: Neighbors) -> int:
    """The farthest that one row moves the value: the local sensitivity."""
    return max(abs(value(other, share) - value(values, share)) for other in neighbors_of(values, relation))


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
            near = [bounds[other] for other in set(neighbors_of(values, Neighbors.REPLACE)) if other in bounds]
            assert bound <= math.exp(beta) * min(near) * (1 + 1e-12)


@pytest.mark.parametrize("number", [3, 4, 5])
def test_for_the_median_of_a_public_number_it_is_the_least_smooth_bound(number: int) -> None:
    """The largest move of any data set, less the farther it is: by walking all data sets of this size."""
    beta, sets = 0.3, [values for values in every_data_set() if len(values) == number]
    jumps = {
        values: max(
            abs(statistic(other, 0.5).value - statistic(values, 0.5).value)
            for other in neighbors_of(values, Neighbors.REPLACE)
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
        near = set(neighbors_of(values, Neighbors.REPLACE))
        assert all(abs(counts[other] - count) <= 1 for other in near if other in counts)


def test_nothing_is_farther_apart_than_the_ends_of_the_line() -> None:
    assert statistic((0, 1), 0.5).between(TOP) > 2**30
