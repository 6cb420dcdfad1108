"""Weighted joins: what is released is near the exact weights, under both relations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.graphs.graph_data import graph_data
from discreet.graphs.joint_degrees import degree_classes, joint_degrees, weighted_triangles
from discreet.questions.graphs.weighted_joins import JointDegrees, WeightedTriangles

EDGES = np.argwhere(np.triu(np.random.default_rng(2).random((120, 120)) < 0.3, 1))


def graph(unit: Any = "edge", neighbors: Neighbors | None = None) -> Any:
    return graph_data(EDGES, 120, Budget(100.0), unit=unit, neighbors=neighbors)


def test_weights_have_the_noise_of_one_edge() -> None:
    exact = JointDegrees(120, degree_classes(120)).steps(EDGES) / 2**30
    found = joint_degrees(graph(), epsilon=50.0)
    assert np.abs(found.values - exact).max() < 0.5
    assert found["weight"].standard_error[0] == pytest.approx(2**0.5 / 50, rel=0.01)  # type: ignore[index]
    total = weighted_triangles(graph(), epsilon=50.0)
    assert abs(total.value - WeightedTriangles(120).steps(EDGES)[0] / 2**30) < 0.5
    replaced = weighted_triangles(graph(neighbors=Neighbors.REPLACE), epsilon=50.0)
    assert replaced.standard_error == pytest.approx(2 * total.standard_error, rel=0.01)  # type: ignore[operator]


def test_what_cannot_be_asked_is_refused_before_any_charge() -> None:
    for ask in (
        lambda: joint_degrees(graph("node")),
        lambda: joint_degrees(graph(), [2, 3]),
        lambda: weighted_triangles(graph("node")),
        lambda: weighted_triangles(graph(), confidence=7.0),
    ):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            ask()
