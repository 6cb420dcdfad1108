"""Layouts: nothing is lost inside cells, moments come out right, and going back is the transpose of going there."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.grid import Array
from discreet.statistics.fits.layout import MOST_POINTS, Layout


def edges(cells: int) -> Array:
    return np.linspace(0.0, 10.0, cells + 1)


def counted(values: Array, cells: int) -> Array:
    return np.histogram(values, edges(cells))[0].astype(np.float64)


SHAPES: list[tuple[list[Array | None], list[int]]] = [
    ([edges(7)], [7]),
    ([edges(5), None], [5, 3]),
    ([edges(5), edges(4), edges(6)], [5, 4, 6]),
    ([None], [4]),
    ([edges(1), edges(2)], [1, 2]),
]


@pytest.mark.parametrize(("ends", "cells"), SHAPES)
@pytest.mark.parametrize("merged", [1, 2])
def test_no_record_is_lost(ends: list[Array | None], cells: list[int], merged: int) -> None:
    counts = np.random.default_rng(0).normal(10, 5, cells)
    layout = Layout.of(ends, cells, merged)
    assert layout.weights(counts).sum() == pytest.approx(counts.sum())
    assert layout.level_weights(counts).sum() == pytest.approx(counts.sum())
    assert layout.points.shape == (layout.weights(counts).size, len(cells))


@pytest.mark.parametrize(("ends", "cells"), SHAPES)
@pytest.mark.parametrize("merged", [1, 2])
def test_gathering_is_the_transpose(ends: list[Array | None], cells: list[int], merged: int) -> None:
    rng, layout = np.random.default_rng(1), Layout.of(ends, cells, merged)
    counts, values = rng.normal(size=cells), rng.normal(size=(len(layout.points), 2))
    np.testing.assert_allclose(layout.gathered(values).T @ counts.ravel(), values.T @ layout.weights(counts))
    np.testing.assert_allclose(layout.averaged(values).T @ counts.ravel(), values.T @ layout.level_weights(counts))


@pytest.mark.parametrize("numbers", [1, 2, 3])
def test_variances_come_out_right_where_level_counts_have_a_sixth_of_the_squared_width_too_much(numbers: int) -> None:
    """Sheppard: within a thousandth of the squared width, for a normal sample of many records."""
    values = np.random.default_rng(2).normal(5, 0.9, 2_000_000)
    layout = Layout.of([edges(12), *[edges(1)] * (numbers - 1)], [12] + [1] * (numbers - 1))
    counts, width = counted(values, 12), 10 / 12
    places = layout.own_points[:, 0]

    def variance(weights: Array) -> float:
        mean = weights @ places / weights.sum()
        return float(weights @ np.square(places - mean) / weights.sum())

    assert abs(variance(layout.weights(counts)) - values.var()) < 2e-3 * width**2
    level = (variance(layout.level_weights(counts)) - values.var()) / width**2
    assert level == pytest.approx(1 / 12 + (1 - layout.nodes**-2) / 12, abs=2e-3)


def test_distribution_functions_come_out_closer_than_level() -> None:
    values = np.random.default_rng(3).normal(4.7, 1.0, 1_000_000)
    layout, counts = Layout.of([edges(12)], [12]), counted(values, 12)
    ends = layout.own_points[:, 0] + 10 / 12 / 16
    exact = np.searchsorted(np.sort(values), ends) / values.size
    sloped, level = (
        np.cumsum(weights) / values.size for weights in (layout.weights(counts), layout.level_weights(counts))
    )
    assert np.abs(sloped - exact).max() < 0.4 * np.abs(level - exact).max()


def test_merged_cells_are_as_if_counted_so() -> None:
    values = np.random.default_rng(4).uniform(0, 10, 1000)
    merged, wide = Layout.of([edges(8)], [8], 2), Layout.of([edges(4)], [4])
    np.testing.assert_allclose(merged.weights(counted(values, 8)), wide.weights(counted(values, 4)))
    np.testing.assert_allclose(merged.points, wide.points)


def test_large_tables_have_fewer_points_in_a_cell() -> None:
    assert Layout.of([edges(8)], [8]).nodes == 8
    large = Layout.of([edges(100), edges(100), edges(20)], [100, 100, 20])
    assert large.nodes == 1
    assert len(large.points) <= MOST_POINTS
    np.testing.assert_array_equal(large.weights(np.ones((100, 100, 20))), 1.0)
