"""Triangles, stars, clustering: near the exact numbers, and refused where they protect the wrong unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.graphs.degrees import choose_max_degree
from discreet.graphs.graph_data import graph_data
from discreet.graphs.subgraph_counts import clustering, k_stars, triangles
from discreet.mechanisms.graphs.subgraphs import KStars, Triangles

EDGES = np.argwhere(np.triu(np.random.default_rng(1).random((300, 300)) < 0.1, 1))
DENSE = np.argwhere(np.triu(np.random.default_rng(1).random((60, 60)) < 0.9, 1))


def graph(unit: Any = "edge", edges: Any = EDGES, nodes: int = 300, neighbors: Neighbors | None = None) -> Any:
    return graph_data(edges, nodes, Budget(2000.0, 1e-3), unit=unit, neighbors=neighbors)


def test_counts_are_within_a_few_times_what_one_edge_can_do() -> None:
    """Ends beyond which noise lies once in 10^6: Student's of three degrees, 100 scales; Laplace, 14."""
    three, two = Triangles().count(EDGES, 300), KStars(2).count(EDGES, 300)
    one, pair = Triangles().smooth_bound(EDGES, 300, 0.3), KStars(2).smooth_bound(EDGES, 300, 0.3)
    assert one < 20
    assert abs(triangles(graph(), epsilon=2.0).value - three) < 100 * one / 0.87
    assert abs(triangles(graph(), epsilon=2.0, delta=1e-6).value - three) < 14 * 2 * one
    assert abs(k_stars(graph(), epsilon=2.0).value - two) < 100 * pair / 0.87
    assert abs(triangles(graph(neighbors=Neighbors.REPLACE), epsilon=20.0).value - three) < 20 * one
    assert triangles(graph()).confidence is None
    found = clustering(graph(edges=DENSE, nodes=60), epsilon=600.0).value
    assert found == pytest.approx(3 * Triangles().count(DENSE, 60) / KStars(2).count(DENSE, 60), abs=1e-3)


def test_triangles_of_nodes_are_those_of_the_graph_where_the_bound_is_wide_enough() -> None:
    exact = Triangles().count(EDGES, 300)
    found = triangles(graph("node"), max_degree=120, epsilon=600.0).value
    assert abs(found - exact) < exact / 10


def test_a_bound_on_degrees_is_chosen_above_most_of_them() -> None:
    """Degrees are about 30; a tenth of the time the bound that would do is not found, and then the next is tried."""
    chosen = [choose_max_degree(graph("node"), epsilon=20.0) for _ in range(5)]
    assert np.median(chosen) in (32, 64)
    empty = [choose_max_degree(graph_data([], 300, Budget(10.0), unit="node"), epsilon=10.0) for _ in range(5)]
    assert np.median(empty) == 1


def test_what_cannot_be_asked_is_refused_before_any_charge() -> None:
    asked: list[Any] = [
        lambda: triangles(graph("node")),
        lambda: triangles(graph(), max_degree=5),
        lambda: triangles(graph(), epsilon=0.0),
        lambda: k_stars(graph("node")),
        lambda: k_stars(graph(), 1),
        lambda: k_stars(graph_data(EDGES, 10**6, Budget(1.0), unit="edge"), 9),
        lambda: clustering(graph("node")),
        lambda: clustering(graph(), share=1.0),
        lambda: choose_max_degree(graph()),
        lambda: triangles(EDGES),  # type: ignore[arg-type]
    ]
    for ask in asked:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            ask()
