"""Edges inside groups and across: the bound, the numbers, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.core.answer import Answer, Apart
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.core.question import BoundedSum
from discreet.core.schema import Number, Schema
from discreet.mechanisms.additive.discrete_laplace import DiscreteLaplace
from discreet.questions.community_edges import community_edges_of
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


def test_an_audit_holds_and_refutes_the_twin_that_counts_one_of_the_three() -> None:
    question = community_edges_of(SCHEMA, ENDS, GROUPS, BLOCKS)
    edges = np.array([[0.0, 2.0], [2.0, 3.0]])
    for moved in range(2):  # an edge inside, and one across
        for radius, holds in ((3.0, True), (1.0, False)):
            twin = dataclasses.replace(question, bound=Bound("l1", radius, nonnegative=True))
            pair = Apart(*(_answer(question, twin.bound, one) for one in (edges, np.delete(edges, moved, axis=0))))
            places = np.flatnonzero(question.of(edges[[moved]])[0])
            with_it = question.of(edges).sum(axis=0)[places]

            def likelihood(releases: Array, places: Steps = places, with_it: Array = with_it) -> Array:
                found = releases[:, places]
                return (np.abs(found - with_it) - np.abs(found - with_it + 1)).sum(axis=1)

            found = Audit("one edge", DiscreteLaplace(1.0), pair, view=likelihood, runs=20_000).verdict()
            assert found.holds == holds, str(found)


def _answer(question: BoundedSum, bound: Bound, edges: Array) -> Answer:
    steps = question.of(edges).sum(axis=0).astype(np.int64)
    return Answer(steps, question.grid, bound, Neighbors.ADD_REMOVE)


def test_what_it_refuses() -> None:
    for groups, blocks in ((GROUPS + 0.5, BLOCKS), (GROUPS, BLOCKS - 1), (GROUPS[:3], BLOCKS), (GROUPS, BLOCKS + 1e6)):
        with pytest.raises(ParameterError):
            community_edges_of(SCHEMA, ENDS, groups, blocks)
