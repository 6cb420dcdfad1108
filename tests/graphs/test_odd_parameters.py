"""Every function of a private graph, found by walking, answers whatever its parameters are, or refuses uncharged."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet import graphs
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.graphs.graph_data import graph_data
from discreet.trust.private_graph import PrivateGraph
from tests.conformance.test_hostile_parameters import ODD, ODDER, fault

EDGES = [(i, (i * i + 1) % 12) for i in range(12)]
NEEDED: dict[str, dict[str, Any]] = {
    "block_counts": {"blocks": [0, 1] * 6},
    "cut": {"first": [0, 1], "second": [2, 3]},
    "laplacian_sketch": {"projections": 8, "delta": 1e-4},
    "synthetic_graph": {"max_iter": 20},
}
"""What a function is asked with, where its defaults are not enough or take long."""
OF_NODES = {"choose_max_degree"}
LARGE: list[Any] = [10**12, 1e308, np.int64(2**62), 5e-324, 10**400]
FOUND = {
    name: function
    for name in graphs.__all__
    if inspect.isfunction(function := getattr(graphs, name))
    if "data" in inspect.signature(function).parameters
}


def opened(name: str) -> PrivateGraph:
    return graph_data(EDGES, 12, Budget(1e4, 1e-2), unit="node" if name in OF_NODES else "edge")


def test_the_walk_finds_the_functions_of_the_room() -> None:
    assert len(FOUND) > 12
    assert {*NEEDED, *OF_NODES} <= set(FOUND)


@pytest.mark.parametrize("values", [[*ODD, *LARGE], pytest.param(ODDER, marks=pytest.mark.slow)], ids=["odd", "odder"])
@pytest.mark.parametrize("name", FOUND)
def test_whatever_its_parameters_are_it_answers_or_refuses_before_the_charge(name: str, values: list[Any]) -> None:
    function, usual = FOUND[name], NEEDED.get(name, {})
    function(opened(name), **usual)  # what is usual is answered
    for parameter in inspect.signature(function).parameters:
        for value in values if parameter != "data" else ():
            graph = opened(name)
            wrong = fault(partial(function, graph, **{**usual, parameter: value}), graph.ledger)
            assert wrong is None, f"{parameter} is {value!r:.50}: {wrong}"
    for value in (None, 3, [(0, 1)], np.zeros((2, 2))):
        with pytest.raises(ParameterError):
            function(value, **usual)
