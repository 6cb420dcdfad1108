"""Synthetic graphs: the chain keeps degrees and its own sums, and comes nearer to what was released."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.graphs.graph_data import graph_data
from discreet.graphs.joint_degrees import degree_classes
from discreet.graphs.synthetic_graph import _Chain, drawn_with, synthetic_graph
from discreet.mechanisms.graphs.subgraphs import Triangles
from discreet.questions.graphs.graph_statistic import degrees_of
from discreet.questions.graphs.weighted_joins import JointDegrees, WeightedTriangles

BLOCKS = np.kron(np.eye(6), np.full((15, 15), 0.7)) + 0.01
EDGES = np.argwhere(np.triu(np.random.default_rng(2).random((90, 90)) < BLOCKS, 1))
JOINT, WEIGHTED = JointDegrees(90, degree_classes(90)), WeightedTriangles(90)


def graph(unit: Any = "edge") -> Any:
    return graph_data(EDGES, 90, Budget(100.0), unit=unit)


def chain(edges: np.ndarray) -> _Chain:
    """Towards the exact sums of the clustered graph."""
    return _Chain(edges, 90, JOINT, JOINT.steps(EDGES) / 2**30, float(WEIGHTED.steps(EDGES)[0]) / 2**30, [0.1, 0.1])


def test_a_graph_with_given_degrees_has_them_or_nearly() -> None:
    rng = np.random.default_rng(0)
    for degrees in (degrees_of(EDGES, 90), np.full(20, 3), np.array([5, 1, 1, 1, 1, 1]), np.zeros(4, int)):
        made = drawn_with(degrees, rng)
        assert len(np.unique(made, axis=0)) == len(made)
        assert (made[:, 0] < made[:, 1]).all()
        found = degrees_of(made, len(degrees))
        assert (found <= degrees).all()
        assert degrees.sum() - found.sum() <= 0.05 * degrees.sum() + 2


def test_the_chain_keeps_degrees_and_comes_nearer() -> None:
    start = drawn_with(degrees_of(EDGES, 90), np.random.default_rng(1))
    found = chain(start)
    made = found.run(20_000, np.random.default_rng(2))
    np.testing.assert_array_equal(degrees_of(made, 90), degrees_of(start, 90))
    assert len(np.unique(made, axis=0)) == len(made)
    exact = float(WEIGHTED.steps(EDGES)[0]) / 2**30
    assert found._triangles == pytest.approx(float(WEIGHTED.steps(made)[0]) / 2**30 - exact, abs=1e-6)
    np.testing.assert_allclose(found._joint, (JOINT.steps(made) - JOINT.steps(EDGES)) / 2**30, atol=1e-6)
    before = abs(Triangles().count(start, 90) - Triangles().count(EDGES, 90))
    assert abs(Triangles().count(made, 90) - Triangles().count(EDGES, 90)) < 0.25 * before


def test_a_synthetic_graph_is_like_the_private_one() -> None:
    made = synthetic_graph(graph(), epsilon=20.0, max_iter=15_000, random_state=1)
    assert abs(len(made.edges) - len(EDGES)) < 0.1 * len(EDGES)
    assert abs(Triangles().count(made.edges, 90) / Triangles().count(EDGES, 90) - 1) < 0.4
    assert made.receipt.epsilon <= 20.0
    asked: list[Any] = [lambda: synthetic_graph(graph("node")), lambda: synthetic_graph(graph(), max_iter=-1)]
    for ask in asked:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            ask()
