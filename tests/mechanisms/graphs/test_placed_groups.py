"""Groups of nodes: the price, the law of every choice, what is found, and where twins break."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from discreet.core.answer import GraphAnswer, NeighborPair
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.graphs.placed_groups import PlacedGroups
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.graphs.small_graphs import edge_neighbors, graphs
from tests.mechanisms.trial import MechanismTrial


def graph(
    edges: Sequence[tuple[int, int]] | Steps, nodes: int, neighbors: Neighbors = Neighbors.ADD_REMOVE
) -> GraphAnswer:
    return GraphAnswer(np.array(edges, dtype=np.int64).reshape(-1, 2), nodes, Unit("edge"), neighbors)


@dataclasses.dataclass(frozen=True)
class LooksTwice(PlacedGroups):
    """Each edge is looked at by both ends, as in a second round, for the price of one look."""

    def earlier(self, ranked: Steps) -> Steps:
        return np.repeat(super().earlier(ranked), 2, axis=0)


@dataclasses.dataclass(frozen=True)
class AsIfEdgesOnlyJoined(PlacedGroups):
    """The reach of an edge that is added, where one is replaced."""

    def scale(self, answer: GraphAnswer) -> float:
        return super().scale(dataclasses.replace(answer, neighbors=Neighbors.ADD_REMOVE))


@dataclasses.dataclass(frozen=True)
class Unpaid(PlacedGroups):
    """The groups of the true graph: there is no noise to speak of."""

    def scale(self, answer: GraphAnswer) -> float:
        return super().scale(answer) / 2**20


def together(releases: Array) -> Array:
    """Which nodes share a group with the last one, as a number: groups have no order."""
    return (releases[:, :-1] == releases[:, -1:]) @ (1 << np.arange(releases.shape[1] - 1))


FOLLOWED = NeighborPair(graph([(0, 2)], 3), graph([(0, 2), (1, 2)], 3))
REPLACED = NeighborPair(*(graph([edge], 3, Neighbors.REPLACE) for edge in ((0, 2), (1, 2))))
TRIAL = MechanismTrial(
    twins=[
        Audit("looks twice", LooksTwice(2.0), FOLLOWED, view=together),
        Audit("replaced", AsIfEdgesOnlyJoined(1.0), REPLACED, view=together),
        Audit("unpaid", Unpaid(), FOLLOWED, view=together),
    ],
    audits=[
        Audit("one edge joins", PlacedGroups(2.0), FOLLOWED, view=together),
        Audit("three groups", PlacedGroups(1.0, 3), FOLLOWED, view=together),
        Audit("one is replaced", PlacedGroups(1.0), REPLACED, view=together),
    ],
)


def test_the_price_is_that_of_one_look_at_each_edge() -> None:
    assert PlacedGroups(0.7, 5).event == PureLoss(0.7)
    assert PlacedGroups(1.0).scale(graph([], 2, Neighbors.REPLACE)) >= 2 * PlacedGroups(1.0).scale(graph([], 2)) * (
        1 - 1e-12
    )


def chance(trailing: float, epsilon: float) -> float:
    """That exponential noise of mean 1 / epsilon makes up for this much: for two groups, exactly."""
    behind = math.exp(-epsilon * abs(trailing)) / 2
    return behind if trailing > 0 else 1 - behind


def law(edges: Steps, nodes: int, epsilon: float) -> Array:
    """The probability of all groupings of nodes in two groups: the product of all choices, by the formula."""
    linked = {tuple(edge) for edge in edges.tolist()}
    found = []
    for groups in itertools.product((0, 1), repeat=nodes):
        likelihood = 1.0
        for v, own in enumerate(groups):
            score = [0.0, 0.0]
            for u in range(v):
                score[groups[u]] += ((u, v) in linked) - 1 / nodes
            likelihood *= chance(score[1 - own] - score[own], epsilon)
        found.append(likelihood)
    return np.array(found)


def test_no_pair_of_neighbors_among_all_small_graphs_is_told_apart_by_more_than_the_price() -> None:
    every = [law(edges, 4, 1.0) for edges in graphs(4)]
    assert np.allclose([one.sum() for one in every], 1)
    losses = [np.abs(np.log(every[a] / every[b])).max() for a, b in edge_neighbors(4)]
    assert 0.9 < max(losses) <= 1 + 1e-12


def test_choices_have_the_law_of_the_formula() -> None:
    star = np.array([[0, 2], [1, 2], [0, 3]])
    runs = 40_000
    released = PlacedGroups(1.0).release(graph(star, 4).stacked(runs), DeterministicBits(5))
    counts = np.bincount(released @ (8, 4, 2, 1), minlength=16)
    expected = runs * law(star, 4, 1.0)
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected) + 5).all()


def test_most_edges_are_inside() -> None:
    random = np.random.default_rng(3)
    own = np.arange(300) % 3
    upper = np.stack(np.triu_indices(300, 1), axis=1)
    edges = upper[random.random(len(upper)) < np.where(own[upper[:, 0]] == own[upper[:, 1]], 0.4, 0.02)]
    found = PlacedGroups(2.0, 6).release(graph(edges, 300), DeterministicBits(1))
    inside = np.mean(found[edges[:, 0]] == found[edges[:, 1]])
    assert (
        inside - np.square(np.bincount(found) / 300).sum() > 0.3
    )  # the modularity; that of the planted groups is 0.57


def test_a_lower_resolution_puts_more_together() -> None:
    ring = graph([(i, (i + 1) % 200) for i in range(200)], 200)
    found = [PlacedGroups(8.0, 40, (), level).release(ring, DeterministicBits(1)) for level in (0.0, 2.0)]
    assert np.bincount(found[0]).max() > 2 * np.bincount(found[1]).max()


def test_what_it_refuses() -> None:
    with pytest.raises(NotPermitted, match="Nothing was released"):
        PlacedGroups().release(
            GraphAnswer(np.array([[0, 1]]), 2, Unit("node"), Neighbors.REPLACE), DeterministicBits(1)
        )
    with pytest.raises(ParameterError, match="3 weights and 2 nodes"):
        PlacedGroups(weights=(1.0, 1.0, 1.0)).release(graph([], 2), DeterministicBits(1))
    for wrong in ({"groups": 1}, {"epsilon": 0.0}, {"resolution": 3.0}, {"weights": (-1.0,)}, {"weights": (math.nan,)}):
        with pytest.raises(ParameterError):
            PlacedGroups(**wrong)
