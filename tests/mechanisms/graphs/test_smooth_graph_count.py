"""Smooth counts of a graph: the price, both relations, and what breaks."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import GraphAnswer, NeighborPair
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import ApproximateLoss, LaplaceLoss, PureLoss
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.graphs.smooth_graph_count import SmoothGraphCount
from discreet.mechanisms.graphs.subgraphs import KStars, Triangles, TruncatedTriangles
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial

EDGE, NODE = Unit("edge"), Unit("node")
HUNDRED = TruncatedTriangles(100)


def graph(edges: Any, nodes: int, neighbors: Neighbors = Neighbors.ADD_REMOVE, unit: Unit = EDGE) -> GraphAnswer:
    return GraphAnswer(np.asarray(edges, dtype=np.int64).reshape(-1, 2), nodes, unit, neighbors)


def book(pages: int, *more: tuple[int, int]) -> list[tuple[int, int]]:
    """Two nodes, 0 and 1, with common neighbors, and more edges."""
    return [*((end, page) for page in range(2, 2 + pages) for end in (0, 1)), *more]


@dataclasses.dataclass(frozen=True)
class NoiseOfLocalSensitivity(SmoothGraphCount):
    """Noise for what one edge can do here, whatever it can do one edge away."""

    def bound(self, answer: GraphAnswer) -> float:
        return self.figure.smooth_bound(answer.edges, answer.nodes, 60.0)

    def worst_neighbors(self) -> NeighborPair:
        """No two nodes have a neighbor in common, so no edge makes a triangle; then two have, and one does."""
        return NeighborPair(graph([(0, 1)], 40), graph([(0, 1), (1, 2)], 40))


@dataclasses.dataclass(frozen=True)
class EdgesForNodes(SmoothGraphCount):
    """Noise for one edge where all edges of a node change."""

    figure: Any = HUNDRED

    def bound(self, answer: GraphAnswer) -> float:
        return Triangles().smooth_bound(answer.edges, answer.nodes, self.noise.beta)

    def worst_neighbors(self) -> NeighborPair:
        return WHEEL


def wheel(spokes: bool) -> GraphAnswer:
    """Fifty pairs of friends, and a node that knows all of them or none."""
    edges = [(2 * i + 1, 2 * i + 2) for i in range(50)] + [(0, i) for i in range(1, 101)] * spokes
    return graph(edges, 101, Neighbors.REPLACE, NODE)


WHEEL = NeighborPair(wheel(False), wheel(True))
STARS = NeighborPair(
    *(graph([(0, i) for i in range(2, 31)] + [end], 200, Neighbors.REPLACE) for end in ((0, 1), (50, 51)))
)
ADDED = SmoothGraphCount().worst_neighbors()


def claimed(mechanism: SmoothGraphCount, pair: NeighborPair) -> PureLoss:
    """What Student's noise loses between graphs of one bound, whose counts are so far apart."""
    first, second = (answer for answer in (pair.first, pair.second) if isinstance(answer, GraphAnswer))
    apart = abs(mechanism.figure.count(first.edges, first.nodes) - mechanism.figure.count(second.edges, second.nodes))
    scale = mechanism.bound(first) / mechanism.noise.slide
    return PureLoss(4 * math.asinh(apart / scale / (2 * math.sqrt(3))))


REPLACED = SmoothGraphCount(6.0, figure=KStars(2))
TRIAL = MechanismTrial(
    twins=[
        NoiseOfLocalSensitivity(),
        Audit("nodes", EdgesForNodes(1.0), WHEEL),
    ],
    audits=[
        Audit("an edge of many triangles", SmoothGraphCount(2.0), ADDED, PureLoss(1.0)),
        Audit("the same with a delta", SmoothGraphCount(2.0, 1e-3), ADDED, LaplaceLoss(1.0)),
        Audit(
            "an edge is replaced",
            SmoothGraphCount(6.0, figure=KStars(2)),
            STARS,
            claimed(SmoothGraphCount(6.0, figure=KStars(2)), STARS),
        ),
    ],
)


def test_the_price_is_pure_unless_there_is_a_delta() -> None:
    assert SmoothGraphCount(0.5).event == PureLoss(0.5)
    assert SmoothGraphCount(0.5, 1e-7).event == ApproximateLoss(0.5, 1e-7)


def test_noise_is_in_proportion_to_what_one_unit_can_do() -> None:
    for mechanism, answer, apart in (
        (SmoothGraphCount(1.0), graph(book(30), 40), 30),
        (SmoothGraphCount(1.0, figure=KStars(2)), graph([(0, i) for i in range(1, 60)], 4000), 60),
        (SmoothGraphCount(1.0, figure=TruncatedTriangles(60)), wheel(False), 2 * 1770),
    ):
        found = mechanism.release(answer.stacked(4000), DeterministicBits(1))
        exact = mechanism.figure.count(answer.edges, answer.nodes)
        scale = np.quantile(np.abs(found - exact), 0.5) / 0.765  # the quartile of Student's law of three degrees
        assert 0.9 * apart < scale * mechanism.noise.slide < 3 * apart
        assert (found == np.rint(found)).all()


def test_a_replaced_edge_is_two_steps() -> None:
    """Each with half of beta: without triangles, the bound of one step is then greater."""
    for mechanism in (SmoothGraphCount(1.0, figure=KStars(2)), SmoothGraphCount(1.0)):
        for answer in (STARS.first, STARS.second):
            assert isinstance(answer, GraphAnswer)
            one = mechanism.figure.smooth_bound(answer.edges, answer.nodes, mechanism.noise.beta / 2)
            assert mechanism.bound(answer) == pytest.approx(one * (1 + math.exp(mechanism.noise.beta / 2)))


def test_another_unit_or_too_much_to_count_is_refused() -> None:
    with pytest.raises(NotPermitted, match="protects one edge"):
        SmoothGraphCount().release(wheel(True), DeterministicBits(1))
    with pytest.raises(NotPermitted, match="protects one node"):
        SmoothGraphCount(figure=TruncatedTriangles(3)).release(graph([], 9), DeterministicBits(1))
    with pytest.raises(ParameterError, match="too many to count"):
        SmoothGraphCount(figure=KStars(9)).check(10**6)
    with pytest.raises(ParameterError):
        SmoothGraphCount(epsilon=0.0)
