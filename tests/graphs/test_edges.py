"""Edges, density, blocks and cuts: what is released, its error, and what is refused before any charge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import PureLoss
from discreet.core.neighbors import Neighbors, Unit
from discreet.graphs.edges import block_counts, cut, density, edge_count
from discreet.graphs.graph_data import graph_data
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.edge_list import EdgeList, graph_schema

RING = np.array([(i, (i + 1) % 60) for i in range(60)] + [(i, (i + 7) % 60) for i in range(60)])


def ring(unit: Any = "edge", epsilon: float = 40.0, neighbors: Neighbors | None = None) -> Any:
    return graph_data(RING, 60, Budget(epsilon), unit=unit, neighbors=neighbors)


def test_counts_are_those_of_the_graph_where_there_is_hardly_any_noise() -> None:
    assert edge_count(ring(), epsilon=40).value == 120
    assert density(ring(), epsilon=40).value == pytest.approx(120 / 1770)
    assert edge_count(ring("node", 4e4), epsilon=4e4, max_degree=4).value == 120
    assert edge_count(ring("node", 4e4), epsilon=4e4, max_degree=2).value == 60
    assert cut(ring(), range(30), epsilon=40).value == 16
    assert cut(ring(), [0, 1], [2, 8], epsilon=40).value == 2
    blocks = block_counts(ring(), [0] * 30 + [1] * 20 + [-1] * 10, epsilon=40)
    assert blocks.values.tolist() == [52, 8, 32]
    assert blocks.labels == {"first": ("0", "0", "1"), "second": ("0", "1", "1")}


def test_errors_are_in_proportion_to_what_the_unit_can_do() -> None:
    assert edge_count(ring()).standard_error == pytest.approx(1.36, abs=0.06)
    assert edge_count(ring("node"), max_degree=10).standard_error == pytest.approx(10 * 2**0.5, rel=0.01)
    replaced = ring(neighbors=Neighbors.REPLACE)
    assert cut(replaced, range(30)).standard_error == cut(ring(), range(30)).standard_error
    assert block_counts(replaced, [0, 1] * 30)["edges"].standard_error[0] > 2.7  # type: ignore[index]


def test_cuts_can_be_asked_of_edges_that_nobody_holds() -> None:
    account = MemoryLedger(Budget(80.0), Neighbors.REPLACE, Unit("edge"))
    data = PrivateData(Local(EdgeList(RING, graph_schema(60))), account)
    assert abs(cut(data, range(30), epsilon=40).value - 16) < 8
    assert abs(edge_count(data, epsilon=40).value - 120) < 8


def test_what_cannot_be_asked_is_refused_before_any_charge() -> None:
    edge, node = ring(epsilon=1.0), ring("node", 1.0)
    plain = PrivateData.of(np.zeros((3, 1)), {"x": (0, 1)}, Budget(1.0))
    asked: list[Any] = [
        lambda: edge_count(node),
        lambda: edge_count(node, max_degree=0),
        lambda: edge_count(node, max_degree=60),
        lambda: edge_count(edge, max_degree=5),
        lambda: edge_count(plain),
        lambda: edge_count(RING),  # type: ignore[arg-type]
        lambda: density(edge, confidence=2.0),
        lambda: cut(node, [0]),
        lambda: cut(edge, []),
        lambda: cut(edge, [0, 99]),
        lambda: cut(edge, [0], [0, 1]),
        lambda: block_counts(node, [0] * 60),
        lambda: block_counts(edge, [0] * 59),
        lambda: block_counts(edge, [0.5] * 60),  # type: ignore[list-item]
    ]
    for ask in asked:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            ask()
    assert edge.ledger.affords(PureLoss(1.0))
    assert node.ledger.affords(PureLoss(1.0))
