"""Graphs that nobody thinks of, wrong parameters, and many askers at once."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.graphs import block_model_network, graph_data, publish_network, randomized_network
from discreet.graphs.publishing.published_network import PublishedNetwork
from discreet.noise.deterministic import DeterministicBits

nx: Any = pytest.importorskip("networkx")
PATH = [(0, 1), (1, 2), (2, 3)]
ODD: dict[str, tuple[Any, int]] = {
    "two nodes": ([(0, 1)], 2),
    "no edges": ([], 6),
    "isolated nodes": ([(0, 1)], 40),
    "a star": ([(0, leaf) for leaf in range(1, 30)], 30),
    "a clique": ([(i, j) for j in range(20) for i in range(j)], 20),
    "loops alone": ([(i, i) for i in range(8)], 8),
    "huge names": ([(0, 10**18), (2**62, 1), (-1, 2), (0, 1)], 5),
    "an order of edges": (nx.DiGraph([*PATH, *((b, a) for a, b in PATH)]), 4),
}


@pytest.mark.parametrize("name", ODD)
def test_every_graph_can_be_published_by_every_method(name: str) -> None:
    edges, nodes = ODD[name]
    for neighbors in Neighbors:
        graph = graph_data(edges, nodes, Budget(3.0), unit="edge", neighbors=neighbors)
        for ask in (publish_network, randomized_network, block_model_network):
            _check(ask(graph), nodes)
        assert graph.ledger.balance().certified == pytest.approx(3.0, abs=1e-9)


def _check(network: PublishedNetwork, nodes: int) -> None:
    """It is a graph on these nodes: without loops or doubles."""
    assert network.edges.shape == (len(network.edges), 2)
    assert (network.edges[:, 0] < network.edges[:, 1]).all()
    assert len(np.unique(network.edges, axis=0)) == len(network.edges)
    assert network.edges.size == 0 or (network.edges.min() >= 0 and network.edges.max() < nodes)
    assert network.groups.shape == (nodes,)


def test_more_communities_than_nodes_are_no_harm() -> None:
    for communities, tiers in ((4, 1), (128, 16)):
        graph = graph_data(PATH, 4, Budget(2.0), unit="edge")
        _check(publish_network(graph, communities=communities, tiers=tiers, epsilon=2.0), 4)


def test_doubles_loops_and_directions_change_nothing() -> None:
    """The noise is replayed, so that networks are equal if what is asked of their graphs is."""
    forms = (
        PATH,
        [*PATH, *PATH, (2, 2), (3, 2)],
        nx.MultiDiGraph([*PATH, *PATH, (1, 0)]),
        np.array(PATH)[::-1, ::-1],
        [*PATH, (0, 99), (-7, 1)],
    )
    made = [
        publish_network(
            graph_data(edges, 4, Budget(4.0), unit="edge", bits=DeterministicBits(3)), epsilon=4.0, random_state=1
        )
        for edges in forms
    ]
    assert all(np.array_equal(one.edges, made[0].edges) for one in made)
    assert all(np.array_equal(one.groups, made[0].groups) for one in made)


def test_sixteen_threads_get_no_more_than_the_account_has() -> None:
    graph = graph_data(PATH, 4, Budget(2.0), unit="edge")

    def asked(_: int) -> PublishedNetwork | None:
        try:
            return publish_network(graph, communities=2, tiers=1, epsilon=0.5)
        except BudgetExceeded:
            return None

    with ThreadPoolExecutor(16) as pool:
        found = [one for one in pool.map(asked, range(16)) if one is not None]
    assert len(found) == 4
    assert graph.ledger.balance().certified <= 2.0


def test_nothing_wrong_is_paid_for() -> None:
    graph = graph_data(PATH, 4, Budget(2.0), unit="edge")
    wrong: dict[str, tuple[Any, ...]] = {
        "communities": (0, 1, 129, 2.5, "a", math.nan, -3),
        "tiers": (0, 17, 1.5, "a", math.inf),
        "epsilon": (0.0, -1.0, math.nan, math.inf, "a", 2.0**-39),
        "random_state": ("a", -1, 0.5),
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ParameterError, match="Nothing was released or spent"):
                publish_network(graph, **{name: value})
    with pytest.raises(BudgetExceeded):
        publish_network(graph, epsilon=2.1)
    assert graph.ledger.balance().certified == 0
