"""Randomised response for pairs of nodes: the price, both probabilities, the gaps, and where twins break."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.core.answer import GraphAnswer, NeighborPair
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.graphs.edge_response import EdgeResponse, gapped
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial


def graph(*edges: tuple[int, int], nodes: int = 3, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> GraphAnswer:
    return GraphAnswer(np.array(edges, dtype=np.int64).reshape(-1, 2), nodes, Unit("edge"), neighbors)


@dataclasses.dataclass(frozen=True)
class AsIfEdgesOnlyJoined(EdgeResponse):
    """The whole epsilon for each of the two pairs that change where an edge is replaced."""

    def epsilon_for(self, neighbors: Neighbors) -> float:
        return self.epsilon


@dataclasses.dataclass(frozen=True)
class KeepsEveryEdge(EdgeResponse):
    """False edges are added, and no true one is left out."""

    def truth(self, neighbors: Neighbors) -> float:
        return 1.0


def coded(releases: Array) -> Array:
    return releases @ (1 << np.arange(releases.shape[1]))


JOINED = NeighborPair(graph((0, 1)), graph((0, 1), (1, 2)))
REPLACED = NeighborPair(*(graph(edge, neighbors=Neighbors.REPLACE) for edge in ((0, 1), (1, 2))))
TRIAL = MechanismTrial(
    twins=[
        Audit("replaced", AsIfEdgesOnlyJoined(2.0), REPLACED, view=coded),
        Audit("keeps every edge", KeepsEveryEdge(), JOINED, view=coded),
    ],
    audits=[
        Audit("an edge joins", EdgeResponse(), JOINED, view=coded),
        Audit("one is replaced", EdgeResponse(2.0), REPLACED, view=coded),
        Audit("few are reported", EdgeResponse(2.0, density=0.05), JOINED, view=coded),
    ],
)


def test_the_price_and_both_ratios() -> None:
    assert EdgeResponse(0.7).event == PureLoss(0.7)
    for epsilon, density in ((1e-5, 0.5), (0.5, 0.5), (0.5, 1e-6), (4.0, 0.5), (4.0, 1e-3), (30.0, 0.5), (100.0, 0.5)):
        one = EdgeResponse(epsilon, density)
        for neighbors in Neighbors:
            lie, truth = one.lie(neighbors), one.truth(neighbors)
            most = epsilon / neighbors.reach
            assert 0 < lie <= truth < 1
            assert lie <= density * (1 + 1e-12)
            assert math.log(truth / lie) <= most
            assert math.log((1 - lie) / (1 - truth)) <= most * (1 + 1e-9)
            assert math.log(truth / lie) > min(0.999 * most, 33)


def test_numbers_are_drawn_each_with_its_probability() -> None:
    size, scale = 200_000, 7.0
    found = gapped(DeterministicBits(1), size, scale)
    chance = 1 - math.exp(-1 / scale)
    assert (np.diff(found) > 0).all()
    assert found[0] >= 0
    assert found[-1] < size
    assert abs(len(found) - size * chance) < 5 * math.sqrt(size * chance)
    assert abs(np.mean(np.diff(found) == 1) - chance) < 5 / math.sqrt(len(found))


def test_pairs_are_numbered_and_no_edge_is_reported_twice() -> None:
    nodes = 60
    every = np.stack(np.triu_indices(nodes, 1), axis=1)
    whole = graph(*map(tuple, every.tolist()), nodes=nodes)
    found = EdgeResponse(30.0).release(whole, DeterministicBits(1)).pairs
    assert np.array_equal(found[np.lexsort(found.T[::-1])], every)
    some = EdgeResponse(0.5).release(whole, DeterministicBits(2)).pairs
    assert (some[:, 0] < some[:, 1]).all()
    assert len(np.unique(some, axis=0)) == len(some)
    large = EdgeResponse(1.0, density=1e-9).release(graph((0, 99_999), nodes=100_000), DeterministicBits(1))
    assert len(large.cells) < 60
    assert (large.pairs < 100_000).all()


def test_what_it_refuses() -> None:
    hidden = GraphAnswer(np.array([[0, 1]]), 2, Unit("node"), Neighbors.REPLACE)
    with pytest.raises(NotPermitted, match="Nothing was released"):
        EdgeResponse().release(hidden, DeterministicBits(1))
    for wrong in ({"epsilon": 0.0}, {"epsilon": 701.0}, {"density": 0.6}, {"density": 0.0}):
        with pytest.raises(ParameterError):
            EdgeResponse(**wrong)
