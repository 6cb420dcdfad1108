"""Weighted joins: one edge moves all weights together by one at most, in every graph of five nodes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.questions.graphs.graph_statistic import GraphStatistic, degrees_of
from discreet.questions.graphs.weighted_joins import JointDegrees, WeightedTriangles
from tests.graphs.small_graphs import edge_neighbors, graphs

EDGES = np.argwhere(np.triu(np.random.default_rng(1).random((80, 80)) < 0.2, 1))


def farthest(statistic: GraphStatistic, nodes: int) -> float:
    values = statistic.grid.values(np.array([statistic.steps(edges) for edges in graphs(nodes)]))
    first, second = np.array(list(edge_neighbors(nodes))).T
    return float(np.abs(values[first] - values[second]).sum(axis=1).max())


def test_one_edge_moves_them_by_one_at_most() -> None:
    for starts in ((1, 2, 3, 4), (1, 3)):
        assert 0.5 < farthest(JointDegrees(5, starts), 5) <= 1
    assert 0.6 <= farthest(WeightedTriangles(5), 5) <= 1


def test_the_bounds_hold_where_all_of_many_edges_change_their_cells() -> None:
    """Two hubs of d edges each that become neighbors, and d common neighbors of two that do."""
    for d in (1, 5, 50, 500):
        hubs = [(end, 2 + end * d + i) for end in (0, 1) for i in range(d)]
        statistic = JointDegrees(2 * d + 2, tuple(range(1, d + 2)))
        moved = np.abs(statistic.steps(np.array([*hubs, (0, 1)])) - statistic.steps(np.array(hubs))).sum()
        assert moved < 2**30
        assert moved > 2**30 * (1 - 1 / d)
        pages = [(end, 2 + i) for end in (0, 1) for i in range(d)]
        triangles = WeightedTriangles(d + 2)
        made = int(triangles.steps(np.array([*pages, (0, 1)]))[0] - triangles.steps(np.array(pages))[0])
        assert made == (2**30 * d) // (d + 1)


def test_weights_are_those_of_the_definition() -> None:
    degrees = degrees_of(EDGES, 80)
    edges = set(map(tuple, EDGES.tolist()))
    weight = sum(
        1 / max(degrees[list(triple)]) for triple in combinations(range(80), 3) if set(combinations(triple, 2)) <= edges
    )
    assert WeightedTriangles(80).steps(EDGES)[0] / 2**30 == pytest.approx(weight, abs=1e-8)
    cells = JointDegrees(80, (1, 10, 16)).steps(EDGES) / 2**30
    low, high = np.sort(np.searchsorted([10, 16], degrees[EDGES], side="right"), axis=1).T
    for cell, pair in enumerate([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]):
        there = (low == pair[0]) & (high == pair[1])
        assert cells[cell] == pytest.approx((0.25 / degrees[EDGES].max(axis=1))[there].sum(), abs=1e-6)
    for starts in ((), (2, 3), (1, 1), (1, 3, 2)):
        with pytest.raises(ParameterError):
            JointDegrees(5, starts)
