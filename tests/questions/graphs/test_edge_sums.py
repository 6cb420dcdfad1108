"""Sums over edges: each edge is in one pair of blocks, and at two nodes."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.questions.graphs.edge_sums import edge_blocks_of, edge_cut_of, edge_degrees_of, node_count
from discreet.schema.schema import Category, Number, Schema
from tests.questions.trial import SCHEMA as MIXED
from tests.questions.trial import Trial, summed

ENDS = ("kind", "two")
TRIALS = {
    "edge_blocks": Trial(
        {"ends": ENDS, "blocks": np.array([0.0, 1.0, 1.0])},
        "c64fc49e9ffa",
        forged=[{"blocks": np.array([0.0, 0.5])}, {"blocks": np.array([-2.0, 0.0])}, {"ends": ("kind",)}],
    ),
    "edge_cut": Trial(
        {"ends": ENDS, "sides": np.array([0.0, 1.0, -1.0])},
        "ba62625a68c0",
        forged=[{"sides": np.array([0.0, 1.5])}, {"sides": np.array([2.0, -1.0])}],
    ),
    "edge_degrees": Trial({"ends": ENDS}, "29d81ba69c24", forged=[{"ends": ("x", "kind")}, {"ends": ("kind", "kind")}]),
}
SCHEMA = Schema({"source": Number(0, 4, step=1), "target": Number(0, 4, step=1)})
EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 3], [0, np.nan], [0.5, 2], [9, 1], [-1, 0]])


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
