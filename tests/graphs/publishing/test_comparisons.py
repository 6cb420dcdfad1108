"""Simpler networks to compare with: their prices, and what they keep."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.graphs import block_model_network, graph_data, randomized_network
from tests.graphs.publishing.test_publish_network import planted


def test_both_cost_epsilon_and_keep_what_they_say() -> None:
    edges = planted()
    response = randomized_network(graph_data(edges, 200, Budget(2.0), unit="edge"), epsilon=2.0)
    pairs, lie = 200 * 199 / 2, 1 / (1 + np.exp(2))
    expected = len(edges) * (1 - lie) + (pairs - len(edges)) * lie
    assert abs(len(response.edges) - expected) < 5 * np.sqrt(pairs * lie)
    model = block_model_network(graph_data(edges, 200, Budget(8.0), unit="edge"), communities=6, epsilon=8.0)
    assert abs(len(model.edges) - len(edges)) < 100
    assert response.receipt.epsilon == 2.0
    assert 7.99 < model.receipt.epsilon <= 8.0


def test_what_is_refused_costs_nothing() -> None:
    graph = graph_data([(0, 1)], 3, Budget(1.0), unit="edge")
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        randomized_network(graph, density=2.0)
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        block_model_network(graph, communities=1)
    for ask in (randomized_network, block_model_network):
        with pytest.raises(NotPermitted, match="Nothing was released or spent"):
            ask(graph_data([(0, 1)], 3, Budget(1.0), unit="node"))
