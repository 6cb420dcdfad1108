"""Edge bounds: what two ones can move a sum by, in every norm, and no less."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.core.neighbors import Neighbors
from discreet.questions.graphs.edge_bound import EDGE_ENDS, EdgeBound

ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}


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
