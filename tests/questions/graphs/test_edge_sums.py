"""Sums over edges: each edge is in one pair of blocks, and at two nodes."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import DiscreteLaplace
from discreet.questions.graphs.edge_sums import (
    community_edges_of,
    edge_blocks_of,
    edge_cut_of,
    edge_degrees_of,
    node_count,
)
from discreet.schema.schema import Category, Number, Schema
from tests.conformance.audits import Audit
from tests.graphs.small_graphs import edge_neighbors, graphs, pairs, replaced_apart
from tests.questions.trial import SCHEMA as MIXED
from tests.questions.trial import Trial, summed

CATEGORIES = ("kind", "two")
SCHEMA = Schema({"source": Number(0, 4, step=1), "target": Number(0, 4, step=1)})
EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 3], [0, np.nan], [0.5, 2], [9, 1], [-1, 0]])
ENDS = ("source", "target")
NODES = Schema(dict.fromkeys(("source", "target"), Number(0, 4, step=1)))
GROUPS, BLOCKS = np.array([0.0, 0, 0, 1, 1]), np.array([0.0, 0, 1, 2, 2])
TRIALS = {
    "edge_blocks": Trial(
        {"ends": CATEGORIES, "blocks": np.array([0.0, 1.0, 1.0])},
        "c64fc49e9ffa",
        forged=[{"blocks": np.array([0.0, 0.5])}, {"blocks": np.array([-2.0, 0.0])}, {"ends": ("kind",)}],
    ),
    "edge_cut": Trial(
        {"ends": CATEGORIES, "sides": np.array([0.0, 1.0, -1.0])},
        "ba62625a68c0",
        forged=[{"sides": np.array([0.0, 1.5])}, {"sides": np.array([2.0, -1.0])}],
    ),
    "edge_degrees": Trial(
        {"ends": CATEGORIES}, "29d81ba69c24", forged=[{"ends": ("x", "kind")}, {"ends": ("kind", "kind")}]
    ),
    "community_edges": Trial(
        {"ends": ("kind", "two"), "groups": np.array([0.0, 1.0, 1.0]), "blocks": np.array([0.0, 1.0, 2.0])},
        "0715264b04b7",
        forged=[{"blocks": np.array([-1.0, 0.0, 0.0])}, {"groups": np.array([0.5, 0.0, 1.0])}, {"ends": ("kind",)}],
    ),
}


def test_edges_are_counted_between_blocks_and_at_nodes() -> None:
    degrees = edge_degrees_of(SCHEMA, ("source", "target"))
    assert summed(degrees, EDGES).tolist() == [2, 2, 3, 1, 0]
    for blocks, expected in (
        ([0, 0, 0, 0, 0], [4]),
        ([0, 0, 1, 1, 1], [1, 2, 1]),
        ([0, 0, 1, -1, 2], [1, 2, 0, 0, 0, 0]),
    ):
        found = summed(edge_blocks_of(SCHEMA, ("source", "target"), np.array(blocks, dtype=float)), EDGES)
        assert found.tolist() == expected
    for sides, across in (([1, 1, -1, -1, -1], 2), ([1, 0, -1, 1, 1], 2), ([0, 0, 1, 1, 1], 0)):
        found = summed(edge_cut_of(SCHEMA, ("source", "target"), np.array(sides, dtype=float)), EDGES)
        assert found.tolist() == [across]


def test_a_column_that_is_no_list_of_nodes_is_refused() -> None:
    assert node_count(Schema({"source": Category(("a", "b", "c"))})) == 3
    for name in ("x", "y", "far", "note", "absent"):
        with pytest.raises(ParameterError):
            node_count(MIXED, name)


def test_degrees_inside_and_across_and_cells_are_counted() -> None:
    question = community_edges_of(NODES, ENDS, GROUPS, BLOCKS)
    edges = np.array([[0, 1], [0, 2], [2, 3], [3, 4], [1, 3]], dtype=np.float64)
    inside, across, cells = np.split(question.steps(edges).sum(axis=0), (5, 10))
    assert inside.tolist() == [2, 1, 1, 1, 1]
    assert across.tolist() == [0, 1, 1, 2, 0]
    assert cells.tolist() == [1, 1, 0, 1, 1, 1]
    assert question.total is not None
    assert np.array_equal(question.total(edges), question.steps(edges).sum(axis=0))
    assert not question.steps(np.array([[1.0, 1.0], [np.nan, 2.0], [0.0, 9.0]])).any()


def test_inside_and_across_cost_the_greater_of_both_and_not_the_sum() -> None:
    question = community_edges_of(NODES, ENDS, GROUPS, BLOCKS)
    each = question.of(pairs(5).astype(np.float64))
    assert (each.sum(axis=1) == 3).all()
    values = np.array([question.of(edges.astype(np.float64)).sum(axis=0) for edges in graphs(5)])
    apart = [np.abs(values[a] - values[b]).sum() for a, b in edge_neighbors(5)]
    joined, replaced = (question.bound.sensitivity("l1", question.size, one) for one in Neighbors)
    assert max(apart) == 3 <= joined < 3.001
    assert replaced_apart(values, 5, 1) == 6 <= replaced < 6.001


BEFORE = np.array([[0.0, 2.0], [2.0, 3.0]])

MOVED: dict[str, tuple[Array, Array, Neighbors]] = {
    "an edge inside joins": (BEFORE, BEFORE[1:], Neighbors.ADD_REMOVE),
    "one across joins": (BEFORE, BEFORE[:1], Neighbors.ADD_REMOVE),
    "one inside is replaced by one across": (BEFORE[:1], np.array([[1.0, 4.0]]), Neighbors.REPLACE),
    "one inside is replaced by another": (np.array([[0.0, 1.0]]), np.array([[3.0, 4.0]]), Neighbors.REPLACE),
}


def holds(moved: str, radius: float = 3.0, neighbors: Neighbors | None = None) -> bool:
    """Whether an audit by the likelihood lets this bound stand, and this relation, if it is not the right one."""
    question = community_edges_of(NODES, ENDS, GROUPS, BLOCKS)
    *graphs, relation = MOVED[moved]
    one, other = (question.of(edges).sum(axis=0) for edges in graphs)
    bound = Bound("l1", radius, nonnegative=True)
    pair = NeighborPair(
        *(Answer(steps.astype(np.int64), question.grid, bound, neighbors or relation) for steps in (one, other))
    )

    def likelihood(releases: Array) -> Array:
        return np.asarray((np.abs(releases - other) - np.abs(releases - one)).sum(axis=1))

    return Audit(moved, DiscreteLaplace(1.0), pair, view=likelihood, runs=100_000).verdict().holds


@pytest.mark.parametrize("moved", MOVED)
def test_an_audit_holds_and_refutes_two_thirds_of_the_noise(moved: str) -> None:
    assert holds(moved)
    assert not holds(moved, radius=2.0)


def test_an_audit_refutes_a_replaced_edge_at_the_price_of_one_that_joins() -> None:
    assert not holds("one inside is replaced by one across", neighbors=Neighbors.ADD_REMOVE)


def test_what_it_refuses() -> None:
    for groups, blocks in ((GROUPS + 0.5, BLOCKS), (GROUPS, BLOCKS - 1), (GROUPS[:3], BLOCKS), (GROUPS, BLOCKS + 1e6)):
        with pytest.raises(ParameterError):
            community_edges_of(NODES, ENDS, groups, blocks)
