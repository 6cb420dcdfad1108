"""Publishing a network: the price, what is kept, what is drawn, and what is refused before any charge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.as_published import dp_lusn
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted, ParameterError
from discreet.core.grid import Steps
from discreet.core.neighbors import Neighbors
from discreet.graphs import block_model_network, graph_data, synthetic_graph
from discreet.graphs.publishing.block_sampling import (
    closed,
    fitted_edges,
    nearest_counts,
    sampled_edges,
    triangle_count,
)
from discreet.graphs.publishing.publish_network import publish_network
from discreet.mechanisms.graphs.subgraphs import adjacency_of
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.graphs.edge_sums import cell


def planted(nodes: int = 200, groups: int = 4, inside: float = 0.35, across: float = 0.01) -> Steps:
    """A random graph with groups of equal size."""
    random = np.random.default_rng(1)
    own = np.arange(nodes) % groups
    pairs = np.stack(np.triu_indices(nodes, 1), axis=1)
    return pairs[random.random(len(pairs)) < np.where(own[pairs[:, 0]] == own[pairs[:, 1]], inside, across)]


def test_it_costs_epsilon_once_and_a_retry_costs_nothing() -> None:
    graph = graph_data(planted(), 200, Budget(3.0), unit="edge", bits=DeterministicBits(1))
    first = publish_network(graph, communities=6, tiers=2, epsilon=3.0, random_state=1, key="a")
    assert first.receipt.epsilon == pytest.approx(3.0, abs=1e-9)
    assert first.receipt.epsilon <= 3.0
    again = publish_network(graph, communities=6, tiers=2, epsilon=3.0, random_state=1, key="a")
    assert np.array_equal(first.edges, again.edges)
    with pytest.raises(BudgetExceeded):
        publish_network(graph, epsilon=0.1)


def test_a_network_resembles_its_graph() -> None:
    edges = planted()
    graph = graph_data(edges, 200, Budget(8.0), unit="edge", bits=DeterministicBits(1))
    network = publish_network(graph, communities=6, tiers=2, epsilon=8.0, random_state=1)
    assert (network.edges[:, 0] < network.edges[:, 1]).all()
    assert len(np.unique(network.edges, axis=0)) == len(network.edges)
    assert abs(len(network.edges) / len(edges) - 1) < 0.05
    own = np.arange(200) % 4
    inside = [np.mean(own[one[:, 0]] == own[one[:, 1]]) for one in (edges, network.edges)]
    assert abs(inside[0] - inside[1]) < 0.1
    counts = [triangle_count(adjacency_of(one, 200)) for one in (edges, network.edges)]
    assert 0.7 < counts[1] / counts[0] < 1.3
    true, made = (one[:, 0] * 200 + one[:, 1] for one in (edges, network.edges))
    assert np.isin(true, made).mean() < 0.6
    assert "edges inside" in str(network)
    assert "<table" in network._repr_html_()
    assert network.degrees.sum() == 2 * len(network.edges) == network.adjacency.sum()


def test_a_graph_without_edges_can_be_published() -> None:
    for neighbors in Neighbors:
        empty = graph_data(np.empty((0, 2)), 30, Budget(1.0), unit="edge", neighbors=neighbors)
        network = publish_network(empty, communities=3, tiers=2, epsilon=1.0)
        assert network.groups.shape == (30,)


def test_what_is_refused_costs_nothing() -> None:
    graph = graph_data([(0, 1), (1, 2)], 3, Budget(1.0), unit="edge")
    for wrong in ({"communities": 1}, {"communities": 1000}, {"tiers": 0}, {"epsilon": 0.0}, {"tiers": 1.5}):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            publish_network(graph, **wrong)
    with pytest.raises(NotPermitted, match="Nothing was released or spent"):
        publish_network(graph_data([(0, 1)], 3, Budget(1.0), unit="node"))
    with pytest.raises(ParameterError, match="graph_data"):
        publish_network(np.zeros((3, 2)))  # type: ignore[arg-type]


def test_edges_are_drawn_as_cells_count_them_and_never_twice() -> None:
    blocks = np.repeat([0, 1, 2], (6, 20, 30))
    counts = np.array([9, 40, 60, 0, 7, 50])
    found = sampled_edges(counts, blocks, np.ones(56), np.random.default_rng(1))
    assert (found[:, 0] < found[:, 1]).all()
    assert len(np.unique(found, axis=0)) == len(found)
    assert np.bincount(cell(blocks[found]), minlength=6).tolist() == counts.tolist()
    assert len(sampled_edges(np.array([99]), np.zeros(4, np.int64), np.ones(4), np.random.default_rng(1))) <= 6
    none = sampled_edges(np.array([5]), np.zeros(4, np.int64), np.zeros(4), np.random.default_rng(1))
    assert len(none) <= 5


def test_nodes_of_great_weight_get_their_edges_in_dense_blocks() -> None:
    blocks, weights = np.zeros(60, np.int64), np.r_[np.full(10, 50.0), np.full(50, 12.0)]
    counts = np.array([int(weights.sum() / 2)])
    missing = []
    for draw in (sampled_edges, fitted_edges):
        found = draw(counts, blocks, weights, np.random.default_rng(1))
        missing.append(500 - np.bincount(found.ravel(), minlength=60)[:10].sum())
    assert missing[1] < 0.7 * missing[0]


def test_counts_are_projected_on_their_sum() -> None:
    noisy = np.array([30.0, 4.0, -3.0, 2.0, -5.0])
    assert nearest_counts(noisy, 28.0).sum() == 28
    assert not nearest_counts(noisy, -1.0).any()


def test_swaps_keep_degrees_and_blocks_and_close_triangles() -> None:
    edges = planted(across=0.05)
    blocks = np.arange(200) % 4
    before = triangle_count(adjacency_of(edges, 200))
    for power in (0.0, 0.5, 1.0):
        after = closed(edges, blocks, 1.3 * before, 60, power, np.random.default_rng(1))
        assert np.array_equal(np.bincount(edges.ravel()), np.bincount(after.ravel()))
        assert np.array_equal(np.bincount(cell(blocks[edges])), np.bincount(cell(blocks[after])))
        assert triangle_count(adjacency_of(after, 200)) > 1.2 * before


@pytest.mark.parametrize("function", [publish_network, block_model_network, synthetic_graph, dp_lusn])
def test_what_is_no_seed_is_refused_before_anything_is_spent(function: Any) -> None:
    more = {"waiver": "a public graph"} if function is dp_lusn else {}
    graph = graph_data([(0, 1), (1, 2)], 9, Budget(5.0, 1e-6), unit="edge")
    for seed in ("a", -5, 3.5):
        with pytest.raises(ParameterError, match=r"random_state is .* Nothing was released or spent"):
            function(graph, random_state=seed, **more)
    assert graph.ledger.balance().certified == 0
