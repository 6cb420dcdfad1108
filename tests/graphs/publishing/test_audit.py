"""Publishing from end to end: neighbors are not told apart by more than the price, and twins that cheat are."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pytest

from discreet.as_published.fast_newman import fast_newman
from discreet.audit.trial import Verdict, judged
from discreet.core.answer import Answer, GraphAnswer
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.events import Event, PureLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors, Unit
from discreet.graphs import graph_data
from discreet.graphs.publishing import publish_network as publishing
from discreet.graphs.publishing.published_network import PublishedNetwork
from discreet.mechanisms.additive.laplace import DiscreteLaplace
from discreet.noise.system_bits import system_bits
from tests.graphs.small_graphs import pairs
from tests.mechanisms.graphs.test_placed_groups import LooksTwice, together

EPSILON, NODES = 0.5, 3
# All graphs on three nodes, but for their names: no edge, one, two and three. Each is a neighbor of the one before.
CHAIN = [pairs(NODES)[:count] for count in range(4)]
REPLACED = [pairs(NODES)[[0]], pairs(NODES)[[2]]]


@dataclass(frozen=True)
class TrueCommunities:
    """The communities of the true graph, as DP-LUSN takes them, at the price of private ones."""

    event: Event

    def release(self, answer: GraphAnswer, _: Bits) -> Steps:
        return fast_newman(answer.edges, answer.nodes)


Honest = publishing.PublishingPlan


class UnpaidPartition(Honest):
    def groups(self, count: int, weights: tuple[float, ...] = ()) -> Any:
        return TrueCommunities(super().groups(count, weights).event)


class Bare(DiscreteLaplace):
    """A 2,000th of the noise, at the price of all of it."""

    law = DiscreteLaplace.law

    def release(self, answer: Answer, bits: Bits) -> Array:
        return DiscreteLaplace(self.multiplier / 2000).release(answer, bits)


class BareCounts(Honest):
    @property
    def edges(self) -> DiscreteLaplace:
        return Bare(super().edges.multiplier)


class SeenByBothEnds(Honest):
    def groups(self, count: int, weights: tuple[float, ...] = ()) -> LooksTwice:
        return LooksTwice(self.part(publishing.GROUPS), count, weights, publishing.RESOLUTION)


def feature(network: PublishedNetwork) -> float:
    """All that is published of three nodes, as a number: which pairs are edges, and which share a group."""
    edges = np.isin([0 * NODES + 1, 0 * NODES + 2, 1 * NODES + 2], network.edges @ (NODES, 1))
    return float(edges @ (1, 2, 4) + (network.groups[pairs(NODES)] @ (1, -1) == 0) @ (8, 16, 32))


@dataclass(frozen=True)
class Pipeline:
    """Releases of neighboring graphs by one plan."""

    runs: int
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    def released(self, edges: Steps) -> Array:
        graph = graph_data(edges, NODES, Budget(self.runs * EPSILON), unit="edge", neighbors=self.neighbors)
        made = partial(publishing.publish_network, graph, communities=2, tiers=1, epsilon=EPSILON)
        return np.array([feature(made()) for _ in range(self.runs)])

    @cached_property
    def worst(self) -> Verdict:
        """The verdict on the neighbors that are told apart best, among all pairs."""
        graphs = CHAIN if self.neighbors is Neighbors.ADD_REMOVE else REPLACED
        found = itertools.pairwise([self.released(edges) for edges in graphs])
        return max((judged(PureLoss(EPSILON), *pair) for pair in found), key=lambda one: one.tightest.shown)


@pytest.mark.partial_audit("each mechanism of the plan has an audit of its own")
@pytest.mark.parametrize("neighbors", Neighbors)
def test_no_neighbors_among_all_small_graphs_are_told_apart_by_more_than_the_price(neighbors: Neighbors) -> None:
    found = Pipeline(80, neighbors).worst
    assert found.holds, str(found)


@pytest.mark.partial_audit("shows one fault, by the best of several pairs")
@pytest.mark.parametrize("twin", [UnpaidPartition, BareCounts])
def test_twins_that_cheat_are_refuted_by_what_they_publish(twin: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "PublishingPlan", twin)
    found = Pipeline(80).worst
    assert not found.holds, str(found)


@pytest.mark.partial_audit("shows one fault, by evidence for it alone")
@pytest.mark.parametrize(("plan", "holds"), [(Honest, True), (SeenByBothEnds, False)])
def test_groups_in_which_an_edge_is_seen_by_both_ends_cost_more_than_the_whole_plan(
    plan: type[publishing.PublishingPlan], holds: bool
) -> None:
    groups, unit = plan(EPSILON).groups(2), Unit("edge")
    graphs = (GraphAnswer(edges, 2, unit, Neighbors.ADD_REMOVE).stacked(60_000) for edges in (pairs(2)[:0], pairs(2)))
    found = (together(groups.release(graph, system_bits()).astype(np.float64)) for graph in graphs)
    assert judged(PureLoss(EPSILON), *found).holds == holds
