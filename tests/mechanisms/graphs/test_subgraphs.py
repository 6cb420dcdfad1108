"""Subgraphs: counts, and smooth bounds, on every graph of a few nodes."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.mechanisms.graphs.subgraphs import KStars, Triangles, TruncatedTriangles, check_size
from tests.graphs.small_graphs import graphs, node_neighbors, pairs

NODES = 5
EDGE_FIGURES: list[Any] = [Triangles(), KStars(2), KStars(3)]


def counts(figure: Any, nodes: int = NODES) -> np.ndarray:
    return np.array([figure.count(edges, nodes) for edges in graphs(nodes)])


def bounds(figure: Any, beta: float, nodes: int = NODES) -> np.ndarray:
    return np.array([figure.smooth_bound(edges, nodes, beta) for edges in graphs(nodes)])


def exact_bounds(figure: Any, beta: float) -> np.ndarray:
    """The smooth sensitivity: what one edge can do in any graph, discounted by how far away that is."""
    values, flips = counts(figure), 1 << np.arange(len(pairs(NODES)))
    every = np.arange(len(values))
    level = np.max([np.abs(values - values[every ^ flip]) for flip in flips], axis=0).astype(float)
    best = level.copy()
    for distance in range(1, len(flips) + 1):
        level = np.max([level, *(level[every ^ flip] for flip in flips)], axis=0)
        best = np.maximum(best, math.exp(-beta * distance) * level)
    return best


def test_counts_are_those_of_all_triples_and_choices() -> None:
    for number in range(0, 2**10, 7):
        edges = set(map(tuple, graphs(NODES)[number].tolist()))
        near = [sum(node in edge for edge in edges) for node in range(NODES)]
        triples = [t for t in combinations(range(NODES), 3) if set(combinations(t, 2)) <= edges]
        assert Triangles().count(graphs(NODES)[number], NODES) == len(triples)
        for k in (2, 3):
            assert KStars(k).count(graphs(NODES)[number], NODES) == sum(math.comb(degree, k) for degree in near)
        for most in (1, 2, 3):
            kept = [t for t in triples if all(near[node] <= most for node in t)]
            assert TruncatedTriangles(most).count(graphs(NODES)[number], NODES) == len(kept)


@pytest.mark.parametrize(
    "beta", [0.3, pytest.param(0.05, marks=pytest.mark.slow), pytest.param(1.5, marks=pytest.mark.slow)]
)
def test_bounds_are_smooth_and_the_smooth_sensitivity_or_a_little_above(beta: float) -> None:
    every = np.arange(2**10)
    for figure in EDGE_FIGURES if beta != 0.3 else EDGE_FIGURES[::2]:
        exact, found = exact_bounds(figure, beta), bounds(figure, beta)
        assert (found >= exact * (1 - 1e-12)).all()
        for flip in 1 << np.arange(10):
            assert (found <= math.exp(beta) * found[every ^ flip] * (1 + 1e-12)).all()
        if isinstance(figure, KStars):
            np.testing.assert_allclose(found, exact)
        else:
            assert (found <= np.maximum(exact, 1 / (beta * math.e)) + 1e-9).all()


@pytest.mark.parametrize("most", [2, *(pytest.param(most, marks=pytest.mark.slow) for most in (1, 3, 4))])
def test_bounds_are_smooth_and_no_less_than_what_a_node_can_do(most: int) -> None:
    figure = TruncatedTriangles(most)
    values = counts(figure)
    for beta in (0.1, 5.0):
        found = bounds(figure, beta)
        for group in node_neighbors(NODES):
            assert np.ptp(values[group]) <= found[group].min() + 1e-9
            assert found[group].max() <= math.exp(beta) * found[group].min() * (1 + 1e-12)


def test_a_node_moves_all_nodes_whose_degree_is_at_the_bound_or_one_above() -> None:
    """Degrees 3, 2, 2, 2, 1: here, and at graphs one node away."""
    edges = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [3, 4]])
    for most, near in ((2, 4), (3, 1)):
        assert TruncatedTriangles(most).smooth_bound(edges, NODES, 50.0) == math.comb(most, 2) * (1 + near)
    assert TruncatedTriangles(3).smooth_bound(edges, 50, 0.01) > 3 * (1 + 1 + 4) * math.exp(-0.01)


def test_large_graphs_are_counted_in_parts() -> None:
    edges = np.argwhere(np.triu(np.random.default_rng(0).random((700, 700)) < 0.05, 1))
    matrix = np.zeros((700, 700))
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = 1
    assert Triangles().count(edges, 700) == round(np.trace(matrix @ matrix @ matrix) / 6)
    common = matrix @ matrix
    assert Triangles().smooth_bound(edges, 700, 9.0) == common[np.triu_indices(700, 1)].max()


def test_what_is_too_large_or_has_no_meaning_is_refused() -> None:
    for wrong in (lambda: KStars(1), lambda: KStars(99), lambda: TruncatedTriangles(0)):
        with pytest.raises(ParameterError):
            wrong()
    with pytest.raises(ParameterError, match="too many to count"):
        check_size(KStars(16), 10**6, 2.0**61)
