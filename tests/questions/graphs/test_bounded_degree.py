"""Bounded degrees: no node, whatever its edges become, moves a statistic farther than it says. All graphs are tried."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.core.neighbors import Neighbors
from discreet.questions.graphs.bounded_degree import FlowEdges, FlowGains, ProjectedHistogram, projected
from discreet.questions.graphs.graph_statistic import GraphStatistic, degrees_of
from tests.graphs.small_graphs import graphs, node_neighbors


def farthest(statistic: GraphStatistic, order: float = 1) -> float:
    values = statistic.grid.values(np.array([statistic.steps(edges) for edges in graphs(statistic.nodes)]))
    worst = 0.0
    for group in node_neighbors(statistic.nodes):
        rows = np.unique(values[group], axis=0)
        worst = max(worst, float(np.linalg.norm(rows[:, None] - rows, order, axis=2).max()))
    return worst


@pytest.mark.parametrize("nodes", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_one_node_moves_the_flow_by_as_much_as_the_greatest_degree(nodes: int) -> None:
    for most in range(1, nodes):
        statistic = FlowEdges(nodes, most)
        assert farthest(statistic) == most == statistic.bound.sensitivity("l1", 1, Neighbors.REPLACE)


def test_one_node_moves_the_projected_histogram_no_farther_than_its_bound() -> None:
    for most in (1, 2, 3, 4):
        statistic = ProjectedHistogram(5, most)
        claimed = statistic.bound.sensitivity("l1", statistic.size, Neighbors.REPLACE)
        assert 0.5 * claimed <= farthest(statistic) <= claimed == pytest.approx(4 * most + 2)


@pytest.mark.parametrize("nodes", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_one_node_moves_each_gain_by_three_halves_at_most(nodes: int) -> None:
    claimed = FlowGains(nodes).bound.sensitivity("linf", 2, Neighbors.REPLACE)
    assert 0.5 <= farthest(FlowGains(nodes), np.inf) <= claimed == 1.5


def test_the_flow_is_the_linear_program() -> None:
    generator = np.random.default_rng(3)
    for _ in range(30):
        edges = graphs(5)[generator.integers(1, 2**10)]
        for most in (1, 2, 3):
            at = np.array([[node in pair for pair in edges.tolist()] for node in range(5)], dtype=float)
            exact = -linprog(-np.ones(len(edges)), at, np.full(5, most), bounds=(0, 1)).fun
            assert abs(FlowEdges(5, most).steps(edges)[0] / 2 - exact) < 1e-9


def test_a_projection_keeps_all_where_it_can_and_no_node_has_more() -> None:
    edges = np.unique(np.sort(np.random.default_rng(0).integers(0, 60, (900, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    for most in (1, 5, 20, 60):
        kept = projected(edges, 60, most)
        assert degrees_of(kept, 60).max() <= most
        assert set(map(tuple, kept.tolist())) <= set(map(tuple, edges.tolist()))
        assert len(kept) >= (len(edges) if most == 60 else 0.6 * min(len(edges), 30 * most))
        assert FlowEdges(60, most).steps(edges)[0] >= 2 * len(kept)
