"""Communities of a graph: nodes are put into groups one after another, and every edge is looked at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from discreet.core.answer import GraphAnswer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.parameters import CheckedParameters
from discreet.noise.laplace import rounded_exponential

FINE = 20  # bits of a step of the scores, whose unit is an edge
MOST_GROUPS = 2**11
LEAST = 2.0**-30  # epsilon, so that the noise can be drawn
BLOCK = 2**20  # draws of noise at a time
FARTHEST = 2.0**40  # of a score without noise, in edges


@dataclass(frozen=True)
class PlacedGroups(CheckedParameters):
    """Put nodes into groups, so that most edges are inside.

    Nodes come in descending order of their weights. Each joins the group with the greatest score: how many of its
    neighbors that came before are there, less `resolution` times how many there would be if edges ran at random
    between nodes of these weights (Newman and Girvan's modularity; Reichardt and Bornholdt 2006), with exponential
    noise of mean reach / epsilon. The reach is 1 if an edge is added or removed, and 2 if one is replaced by another.

    Parameters
    ----------
    epsilon : float
        Public.
    groups : int
        Public. How many there are at most.
    weights : tuple of float
        Public. Of the nodes, at least 0: expected degrees, such as degrees that were released. Empty for equal ones.
    resolution : float
        Public. From 0 to 2. Less than 1 makes groups larger: what noise alone tells apart is rather put together.

    Guarantee
    ---------
    `PureLoss(epsilon)`, for edges (`placed_groups.md`). The choice of a node, given all choices before it, depends on
    no edges but those to nodes that came before. So an edge moves one choice alone, that of its later end, and there
    it moves one score by one. That choice is report-noisy-max with exponential noise, which is the permute-and-flip
    mechanism: McKenna and Sheldon 2020, Theorem 1, for scores that move the same way. The others keep their law.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> two = np.array([[0, 1], [0, 2], [1, 2], [3, 4], [3, 5], [4, 5]])
    >>> graph = GraphAnswer(two, 6, Unit("edge"), Neighbors.ADD_REMOVE)
    >>> PlacedGroups(20.0).release(graph, DeterministicBits(1))
    array([1, 1, 1, 0, 0, 0])
    """

    epsilon: float = 1.0
    groups: int = 2
    weights: tuple[float, ...] = ()
    resolution: float = 1.0
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("PlacedGroups", "epsilon", self.epsilon, least=LEAST)
        check_whole("PlacedGroups", "groups", self.groups, least=2, most=MOST_GROUPS)
        check_positive("PlacedGroups", "resolution", self.resolution, least=0.0, most=2.0)
        if any(not 0 <= weight < FARTHEST for weight in self.weights):
            raise ParameterError("PlacedGroups", "a weight is not from 0 to 2**40", "Give finite weights, at least 0.")

    @property
    def event(self) -> PureLoss:
        return PureLoss(self.epsilon)

    def scale(self, answer: GraphAnswer) -> float:
        """The mean of the noise, in steps; rounded up."""
        return max(math.nextafter(math.ldexp(answer.neighbors.reach / self.epsilon, FINE), math.inf), 1.0)

    def earlier(self, ranked: Steps) -> Steps:
        """The rank of the end of each edge that its later end looks at, as pairs (later, earlier)."""
        return np.sort(ranked, axis=1)[:, ::-1]

    def release(self, answer: GraphAnswer, bits: Bits) -> Steps:
        """The group of each node, 0, 1, 2, ...; one row for each copy."""
        weights = self._weights(answer)
        order = np.argsort(-weights, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        pairs = self.earlier(rank[answer.edges])
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        ends = np.searchsorted(pairs[:, 0], np.arange(len(order) + 1))
        placed = self._placed(answer, [pairs[a:b, 1] for a, b in pairwise(ends)], weights, bits)
        return placed[:, rank].reshape(*answer.copies, answer.nodes)

    def _placed(self, answer: GraphAnswer, before: list[Steps], weights: Array, bits: Bits) -> Steps:
        """The groups of nodes by rank, given the ranks of the neighbors that come before each."""
        copies, groups = math.prod(answer.copies), int(self.groups)
        found = np.zeros((copies, answer.nodes), np.int64)
        volume, everything = np.zeros((copies, groups)), max(float(weights.sum()), 1.0)
        rows, descending = np.arange(copies), -np.sort(-weights)
        block = max(1, BLOCK // (copies * groups))
        for node, weight in enumerate(descending.tolist()):
            if node % block == 0:
                shape = (min(block, answer.nodes - node), copies, groups)
                noise = rounded_exponential(bits, shape, self.scale(answer))
            cells = (rows[:, None] * groups + found[:, before[node]]).ravel()
            counts = np.bincount(cells, minlength=copies * groups).reshape(copies, groups)
            chance = np.ldexp(volume * (self.resolution * weight / everything), FINE).astype(np.int64)
            chosen = ((counts << FINE) - chance + noise[node % block]).argmax(axis=1)
            found[:, node] = chosen
            volume[rows, chosen] += weight
        return found

    def _weights(self, answer: GraphAnswer) -> Array:
        if answer.unit.kind != "edge":
            obstacle = f"it protects one edge, and the unit of the graph is a {answer.unit.kind}"
            raise NotPermitted("groups of nodes", obstacle, 'Open the graph with unit="edge".', "Nothing was released.")
        if self.weights and len(self.weights) != answer.nodes:
            obstacle = f"there are {len(self.weights)} weights and {answer.nodes} nodes"
            raise ParameterError("groups of nodes", obstacle, "Give one for each node.", "Nothing was released.")
        return np.array(self.weights) if self.weights else np.ones(answer.nodes)

    def worst_neighbors(self) -> NeighborPair:
        """Two nodes that know each other, or do not: the second follows the first, or not."""
        edges = (np.empty((0, 2), np.int64), np.array([[0, 1]]))
        return NeighborPair(*(GraphAnswer(one, 2, Unit("edge"), Neighbors.ADD_REMOVE) for one in edges))
