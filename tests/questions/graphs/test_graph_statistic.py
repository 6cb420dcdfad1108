"""Statistics of whole graphs: no edge, added, removed or replaced, moves them farther than they say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.core.answer import Answer
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.neighbors import Neighbors
from discreet.graphs.graph_data import graph_data
from discreet.questions.graphs.graph_statistic import (
    EDGE_ENDS,
    DegreeHistogram,
    EdgeBound,
    GraphStatistic,
    SortedDegrees,
)
from tests.graphs.small_graphs import edge_neighbors, graphs, replaced_apart

STATISTICS = [SortedDegrees(5), DegreeHistogram(5, 4), DegreeHistogram(5, 2)]
ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}


def test_one_edge_moves_them_as_far_as_the_bound_says_and_no_farther() -> None:
    first, second = np.array(list(edge_neighbors(5))).T
    for statistic in STATISTICS:
        values = np.array([statistic.steps(edges) for edges in graphs(5)], dtype=float)
        moved = np.abs(values[first] - values[second]).sum(axis=1).max()
        claimed = statistic.bound.sensitivity("l1", statistic.size, Neighbors.ADD_REMOVE)
        assert moved <= claimed == pytest.approx(moved)
        for norm, order in (("l1", 1), ("l2", 2), ("linf", np.inf)):
            most = statistic.bound.sensitivity(norm, statistic.size, Neighbors.REPLACE)  # type: ignore[arg-type]
            assert replaced_apart(values, 5, order) <= most + 1e-12


def test_a_statistic_for_edges_is_not_told_about_nodes() -> None:
    def asked(statistic: GraphStatistic, unit: str) -> Answer:
        data = graph_data([(0, 1)], 5, Budget(1.0), unit=unit)  # type: ignore[arg-type]
        return statistic.answer(data._trust._view)  # type: ignore[attr-defined]

    assert asked(SortedDegrees(5), "edge").steps.tolist() == [0, 0, 0, 1, 1]
    with pytest.raises(NotPermitted, match="the unit of the graph is a node"):
        asked(SortedDegrees(5), "node")


def test_the_sensitivities_are_reached_and_sorting_keeps_them() -> None:
    edges = np.array([[float(i in pair) for i in range(5)] for pair in combinations(range(5), 2)])
    others = np.random.default_rng(0).integers(0, 4, (200, 5)).astype(float)
    for norm, order in ORDERS.items():
        added = max(np.linalg.norm(edge, order) for edge in edges)
        replaced = max(np.linalg.norm(a - b, order) for a in edges for b in edges)
        for neighbors, reached in ((Neighbors.ADD_REMOVE, added), (Neighbors.REPLACE, replaced)):
            claimed = EDGE_ENDS.sensitivity(norm, 5, neighbors)  # type: ignore[arg-type]
            assert reached <= claimed == pytest.approx(reached)
        for rest in others:
            apart = max(np.linalg.norm(np.sort(rest + a) - np.sort(rest + b), order) for a in edges for b in edges[:3])
            assert apart <= replaced + 1e-12


def test_several_edges_of_a_unit_count_that_often() -> None:
    assert isinstance(EDGE_ENDS.times(3), EdgeBound)
    assert EDGE_ENDS.times(3).sensitivity("l1", 9, Neighbors.ADD_REMOVE) == 6
    assert EDGE_ENDS.times(3).sensitivity("linf", 9, Neighbors.REPLACE) == 3
