"""The report against the truth: figures by hand, zero for equal graphs, and its forms."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from discreet.graphs import utility_against_truth
from discreet.graphs.publishing.utility import NetworkFigures, louvain, modularity, mutual_information
from discreet.mechanisms.graphs.subgraphs import adjacency_of
from tests.graphs.publishing.test_publish_network import planted

READ_ELSEWHERE = {
    "utility_against_truth": "for public graphs",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""


def test_figures_of_a_small_graph_are_those_by_hand() -> None:
    bull = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 4]])
    found = NetworkFigures.of(bull, 5)
    assert found.degrees.tolist() == [1, 1, 2, 3, 3]
    assert found.triangles == 1
    assert found.clustering == pytest.approx((1 + 1 / 3 + 1 / 3) / 5)
    assert found.path_length == pytest.approx((5 * 1 + 4 * 2 + 1 * 3) / 10)
    assert found.eigenvalues[0] == pytest.approx(np.linalg.eigvalsh(adjacency_of(bull, 5).toarray())[-1])


def test_planted_communities_are_found_and_compared() -> None:
    own = np.arange(200) % 4
    graph = adjacency_of(planted(), 200)
    found = louvain(graph)
    assert mutual_information(found, own) > 0.95
    assert modularity(graph, found) >= modularity(graph, own) - 0.01
    assert mutual_information(own, np.random.default_rng(1).integers(4, size=200)) < 0.15
    assert mutual_information(own, np.zeros(200, np.int64)) == 0


def test_equal_graphs_have_no_distance_and_others_have() -> None:
    edges = planted()
    assert set(utility_against_truth(edges, edges, 200).errors.values()) == {0.0}
    report = utility_against_truth(edges, planted(inside=0.1, across=0.1), 200)
    assert min(error for name, error in report.errors.items() if name != "path length") > 0
    assert "NOT PRIVATE" in str(report)
    assert "<table" in report._repr_html_()
    ax = Figure().add_subplot()
    assert report.plot(ax) is ax
    assert len(ax.lines) == 2
