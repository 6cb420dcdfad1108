"""Groups of at least k: those of the plain algorithm, their means, and odd columns."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.microaggregation import (
    Microaggregation,
    coordinates,
    group_means,
    group_modes,
    mdav,
)
from discreet.noise.deterministic import DeterministicBits


def plain_mdav(points: Array, k: int) -> list[frozenset[int]]:
    """As the paper says it, with loops."""
    left, groups = list(range(len(points))), []

    def away(one: int, point: Array) -> float:
        return float(((points[one] - point) ** 2).sum())

    def taken(start: int) -> None:
        near = sorted(left, key=lambda one: (one != start, away(one, points[start])))[:k]
        groups.append(frozenset(near))
        left[:] = [one for one in left if one not in groups[-1]]

    while len(left) >= 2 * k:
        mean = points[left].mean(axis=0)
        first = max(left, key=lambda one: away(one, mean))
        taken(first)
        if len(left) >= 2 * k:
            taken(max(left, key=lambda one: away(one, points[first])))
    return [*groups, frozenset(left)]


def sets(groups: Steps) -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(groups == one).tolist()) for one in range(groups.max() + 1)]


@pytest.mark.parametrize("k", [2, 3, 30])
def test_groups_are_those_of_the_plain_algorithm(k: int) -> None:
    for n in (2 * k - 1, 2 * k, 3 * k - 1, 3 * k, 5 * k + 1, 130):
        points = np.random.default_rng(n).normal(size=(n, 3))
        assert sets(mdav(points, k)) == plain_mdav(points, k)


def test_groups_have_from_k_to_below_two_k_records_whatever_the_points_are() -> None:
    rng = np.random.default_rng(1)
    for points in (np.zeros((101, 2)), rng.integers(0, 2, (101, 3)).astype(float), rng.standard_cauchy((101, 1))):
        for k in (2, 5, 40):
            sizes = np.bincount(mdav(points, k))
            assert k <= sizes.min() <= sizes.max() < 2 * k
    assert mdav(np.zeros((3, 1)), 5).tolist() == [0, 0, 0]
    assert mdav(np.zeros((0, 1)), 5).tolist() == []


def test_near_values_are_together_also_far_from_zero_and_in_other_units() -> None:
    low = 1e15 + np.arange(5) * 0.125
    values = np.column_stack([np.append(low, low + 1e6), np.append(np.arange(5), 1000 + np.arange(5)) * 1e-9])
    found = Microaggregation((0, 0), (0.0, 0.0), 5).release(
        Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(1)
    )
    assert sorted(set(found.values[:, 0].tolist())) == [1e15 + 0.25, 1e15 + 1e6 + 0.25]
    assert found.notes["groups"] == 2
    assert found.notes["smallest"] == 5
    assert found.notes["lost"] < 1e-3


def test_a_missing_value_is_a_value_of_its_own() -> None:
    kinds = np.array([[5.0, 0.0], [np.nan, 0.0], [5.0, 1.0], [5.0, np.nan]])
    values = np.column_stack([np.tile(kinds, (4, 1)), np.arange(16.0)])
    answer = Records(values, 1, Neighbors.ADD_REMOVE)
    found = Microaggregation((0, 2), (0.0, 0.0), 4).release(answer, DeterministicBits(1))
    again = found.values[np.argsort(found.values[:, 2])]
    assert np.array_equal(again, values, equal_nan=True)
    assert found.notes["lost"] == 0.0


def test_all_of_a_group_are_equal_and_means_are_exact() -> None:
    values = np.column_stack([np.random.default_rng(3).normal(size=(500, 2)), np.arange(500) % 3, np.arange(500)])
    found = Microaggregation((0, 0, 3), (0.0, 1.0, 0.0), 7).release(
        Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(1)
    )
    assert np.unique(found.values[:, :3], axis=0, return_counts=True)[1].min() >= 7
    assert np.isclose(found.values[:, 0].mean(), values[:, 0].mean())
    assert set(found.values[:, 1].tolist()) <= {-2.0, -1.0, 0.0, 1.0, 2.0, -3.0, 3.0}
    assert sorted(found.values[:, 3]) == list(range(500))
    assert 0.02 < found.notes["lost"] < 0.6


def test_groups_of_half_missing_values_are_missing() -> None:
    groups, nan = np.array([0, 0, 1, 1, 1]), np.nan
    assert np.nan_to_num(group_means(np.array([1.0, nan, 1.0, 3.0, nan]), groups), nan=-1).tolist() == [-1, -1, 2, 2, 2]
    assert np.nan_to_num(group_modes(np.array([1.0, nan, 0.0, 0.0, nan]), groups, 2), nan=-1).tolist() == [
        -1,
        -1,
        0,
        0,
        0,
    ]


def test_distances_are_in_units_of_deviations_and_two_categories_are_one_apart() -> None:
    rows = np.random.default_rng(1).normal(5, [1e9, 1e-9], (1000, 2))
    assert np.allclose(coordinates(rows, (0, 0)).std(axis=0), 1)
    apart = coordinates(np.array([[0.0], [2.0], [np.nan]]), (3,))
    assert np.allclose(np.square(apart[:, None] - apart).sum(axis=2), 1 - np.eye(3))


def test_odd_tables_have_coordinates() -> None:
    for values in (np.zeros((0, 2)), np.full((4, 2), np.nan), np.full((4, 2), 1.0), np.array([[1e50, 0.0]] * 3)):
        points = coordinates(values, (0, 2))
        assert len(points) == len(values)
        assert np.isfinite(points).all()
        found = Microaggregation((0, 2), (0.0, 0.0), 3).release(
            Records(values, 1, Neighbors.ADD_REMOVE), DeterministicBits(1)
        )
        assert found.values.shape == values.shape
        assert found.notes["lost"] == 0.0
