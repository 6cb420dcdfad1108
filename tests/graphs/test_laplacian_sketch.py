"""Sketches: the errors of cuts are those of the formula, and intervals hold them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.as_published.published_prices import published_pad
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.graphs.graph_data import graph_data
from discreet.graphs.laplacian_sketch import laplacian_sketch

EDGES = np.argwhere(np.triu(np.random.default_rng(2).random((120, 120)) < 0.5, 1))


def graph(unit: Any = "edge", neighbors: Neighbors | None = None) -> Any:
    return graph_data(EDGES, 120, Budget(50.0, 1e-2), unit=unit, neighbors=neighbors)


def exact(nodes: int) -> int:
    return int((EDGES[:, 0] < nodes).sum() - (EDGES[:, 1] < nodes).sum())


def test_errors_are_those_of_the_formula_and_intervals_hold_them() -> None:
    """One sketch of 400 vectors; each cut within five of its standard errors."""
    sketch = laplacian_sketch(graph(), projections=400, epsilon=4.0)
    held = []
    for size in (1, 5, 20, 60, 100):
        found = sketch.cut(range(size), confidence=0.99)
        formula = math.sqrt(2 / 400) * (exact(size) + sketch.sketch.pad * size * (120 - size) / 120)
        assert found.standard_error == pytest.approx(formula, rel=0.4)
        assert abs(found.value - exact(size)) < 5 * formula
        held.append(found.interval.low <= exact(size) <= found.interval.high)
    assert sum(held) >= 4
    inside = np.zeros(120)
    inside[:20] = 1
    assert inside @ sketch.laplacian() @ inside == pytest.approx(sketch.cut(range(20)).value, abs=0.4 * 20 * 50)
    assert len(sketch.tabulated()) == 120
    assert "degree" in str(sketch)


def test_the_published_pad_is_paid_for_and_a_smaller_one_than_needed_is_refused() -> None:
    assert laplacian_sketch(graph(), projections=40, pad=published_pad(1.0, 1e-6, 40)).sketch.pad > 1000
    replaced = laplacian_sketch(graph(neighbors=Neighbors.REPLACE), projections=40).sketch
    assert replaced.pad > 1.1 * laplacian_sketch(graph(), projections=40).sketch.pad
    asked: list[Any] = [
        lambda: laplacian_sketch(graph(), projections=40, pad=10.0),
        lambda: laplacian_sketch(graph("node")),
        lambda: laplacian_sketch(graph(), projections=0),
        lambda: laplacian_sketch(graph(), delta=0.0),
        lambda: laplacian_sketch(EDGES),  # type: ignore[arg-type]
    ]
    for ask in asked:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            ask()
    sketch = laplacian_sketch(graph(), projections=40)
    for nodes in ([], range(120), [-1], [120]):
        with pytest.raises(DiscreetError, match="The release is as it was"):
            sketch.cut(nodes)


def test_both_ends_of_an_interval_are_less_what_the_pad_adds() -> None:
    """The sum of squares over x'(L + w I)x is a chi-square variable: its quantiles give both ends, and w|x|^2 goes."""
    sketch = laplacian_sketch(graph(), projections=400, epsilon=4.0)
    for size in (5, 60):
        inside = np.where(np.arange(120) < size, 1 - size / 120, -size / 120)
        found, padding = sketch.cut(range(size), confidence=0.9), float(sketch.sketch.padding(inside))
        assert padding == pytest.approx(sketch.sketch.pad * size * (120 - size) / 120, rel=0.01)
        squares = 400 * (found.value + padding)
        low, high = (squares / chi2.ppf(side, 400) - padding for side in (0.95, 0.05))
        assert found.interval.low == pytest.approx(max(low, 0.0))
        assert found.interval.high == pytest.approx(high)
        assert high > 0
