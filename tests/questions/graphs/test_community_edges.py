"""Edges inside groups and across: the bound, the numbers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.discrete_laplace import DiscreteLaplace
from discreet.questions.graphs.community_edges import community_edges_of
from discreet.schema.schema import Number, Schema
from tests.conformance.audits import Audit
from tests.graphs.small_graphs import edge_neighbors, graphs, pairs, replaced_apart
from tests.questions.trial import Trial

TRIALS = {
    "community_edges": Trial(
        {"ends": ("kind", "two"), "groups": np.array([0.0, 1.0, 1.0]), "blocks": np.array([0.0, 1.0, 2.0])},
        "0715264b04b7",
        forged=[{"blocks": np.array([-1.0, 0.0, 0.0])}, {"groups": np.array([0.5, 0.0, 1.0])}, {"ends": ("kind",)}],
    ),
}
ENDS = ("source", "target")
SCHEMA = Schema(dict.fromkeys(("source", "target"), Number(0, 4, step=1)))
GROUPS, BLOCKS = np.array([0.0, 0, 0, 1, 1]), np.array([0.0, 0, 1, 2, 2])


def test_degrees_inside_and_across_and_cells_are_counted() -> None:
    question = community_edges_of(SCHEMA, ENDS, GROUPS, BLOCKS)
    edges = np.array([[0, 1], [0, 2], [2, 3], [3, 4], [1, 3]], dtype=np.float64)
    inside, across, cells = np.split(question.steps(edges).sum(axis=0), (5, 10))
    assert inside.tolist() == [2, 1, 1, 1, 1]
    assert across.tolist() == [0, 1, 1, 2, 0]
    assert cells.tolist() == [1, 1, 0, 1, 1, 1]
    assert question.total is not None
    assert np.array_equal(question.total(edges), question.steps(edges).sum(axis=0))
    assert not question.steps(np.array([[1.0, 1.0], [np.nan, 2.0], [0.0, 9.0]])).any()


def test_inside_and_across_cost_the_greater_of_both_and_not_the_sum() -> None:
    question = community_edges_of(SCHEMA, ENDS, GROUPS, BLOCKS)
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
    question = community_edges_of(SCHEMA, ENDS, GROUPS, BLOCKS)
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
            community_edges_of(SCHEMA, ENDS, groups, blocks)
