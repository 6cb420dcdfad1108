"""Randomised response for every pair of nodes, in time that grows with what is released."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.core.answer import GraphAnswer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import NotPermitted
from discreet.core.events import PureLoss
from discreet.core.grid import Steps
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.parameters import CheckedParameters
from discreet.noise.bernoulli import bernoulli
from discreet.noise.laplace import rounded_exponential

LEAST, MOST = 2.0**-30, 700.0  # epsilon
WIDEST = 2.0**48  # a gap that is drawn
LARGEST = 2.0**62  # pairs of nodes, in all copies
SAFE = 2.0**-40  # of a probability, for float64


@dataclass(frozen=True)
class RandomizedPairs:
    """Pairs of nodes that were reported as edges.

    Parameters
    ----------
    cells : array of int64
        Numbers of pairs, ascending: pair (i, j) of nodes i < j has number j (j - 1) / 2 + i, and one copy follows
        another.
    nodes : int
        How many nodes there are.
    copies : tuple of int
        The number of independent reports, by axes.
    """

    cells: Steps = field(repr=False)
    nodes: int
    copies: tuple[int, ...] = ()

    @property
    def pairs(self) -> Steps:
        """The two ends of each, the lesser one first, for a single report."""
        high = np.floor((1 + np.sqrt(1 + 8.0 * self.cells)) / 2).astype(np.int64)
        high -= high * (high - 1) // 2 > self.cells
        high += high * (high + 1) // 2 <= self.cells
        return np.stack([self.cells - high * (high - 1) // 2, high], axis=1)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Ones and zeros for all pairs, by copies."""
        size = self.nodes * (self.nodes - 1) // 2
        dense = np.zeros(math.prod(self.copies) * size, np.int64)
        dense[self.cells] = 1
        return dense.reshape(*self.copies, size).astype(dtype or np.int64)


@dataclass(frozen=True)
class EdgeResponse(CheckedParameters):
    """Report each pair of nodes as an edge or not, truthfully or, with a known probability, not.

    A pair without an edge is reported as one with probability q = `lie`, and an edge with e^epsilon q, the greatest
    that is private. By default q = 1 / (1 + e^epsilon): Warner's randomised response, which disturbs each pair least. A
    lower q makes large graphs publishable. Pairs without an edge are not visited one by one: the gaps between those
    that are reported are geometric.

    Parameters
    ----------
    epsilon : float
        Public.
    density : float
        Public. The greatest share q of the pairs without an edge that are reported as edges.

    Guarantee
    ---------
    `PureLoss(epsilon)`, for edges. Each pair is reported by itself. An edge that is added or removed changes one pair,
    whose report has a likelihood ratio of at most e^epsilon: Warner 1965. One that is replaced changes two pairs, each
    reported with epsilon / 2.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> graph = GraphAnswer(np.array([[0, 1], [1, 2]]), 3, Unit("edge"), Neighbors.ADD_REMOVE)
    >>> EdgeResponse(20.0).release(graph, DeterministicBits(1)).pairs
    array([[0, 1],
           [1, 2]])
    """

    epsilon: float = 1.0
    density: float = 0.5
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("EdgeResponse", "epsilon", self.epsilon, LEAST, MOST)
        check_positive("EdgeResponse", "density", self.density, 2.0**-40, 0.5)

    @property
    def event(self) -> PureLoss:
        return PureLoss(self.epsilon)

    def epsilon_for(self, neighbors: Neighbors) -> float:
        """What may be lost on a single pair."""
        return self.epsilon / neighbors.reach

    def scale(self, neighbors: Neighbors) -> float:
        """The mean of the exponential gaps whose whole parts separate pairs that are reported without an edge."""
        lie = min(self.density, 1 / (1 + math.exp(self.epsilon_for(neighbors))))
        return min(-1 / math.log1p(-lie), WIDEST)

    def lie(self, neighbors: Neighbors) -> float:
        """The probability that a pair without an edge is reported as one: 1 - exp(-1 / scale)."""
        return -math.expm1(-1 / self.scale(neighbors))

    def truth(self, neighbors: Neighbors) -> float:
        """The probability that an edge is reported; rounded down, so that neither ratio exceeds e^epsilon."""
        growth, lie = math.exp(self.epsilon_for(neighbors)), self.lie(neighbors)
        return min(lie * growth, 1 - (1 - lie) / growth) * (1 - SAFE)

    def release(self, answer: GraphAnswer, bits: Bits) -> RandomizedPairs:
        """The pairs that are reported as edges."""
        size, copies = answer.nodes * (answer.nodes - 1) // 2, math.prod(answer.copies)
        if answer.unit.kind != "edge" or size * copies > LARGEST:
            obstacle = f"it protects one edge, and the unit of the graph is a {answer.unit.kind}, or it is too large"
            raise NotPermitted("edge response", obstacle, 'Open the graph with unit="edge".', "Nothing was released.")
        low, high = answer.edges[:, 0], answer.edges[:, 1]
        edges = (np.arange(copies)[:, None] * size + np.sort(high * (high - 1) // 2 + low)).ravel()
        lies = gapped(bits, size * copies, self.scale(answer.neighbors))
        truths = edges[bernoulli(bits, edges.size, self.truth(answer.neighbors))]
        cells = np.union1d(np.setdiff1d(lies, edges, assume_unique=True), truths)
        return RandomizedPairs(cells, answer.nodes, answer.copies)

    def worst_neighbors(self) -> NeighborPair:
        """Two nodes that know each other, or do not."""
        edges = (np.empty((0, 2), np.int64), np.array([[0, 1]]))
        return NeighborPair(*(GraphAnswer(one, 2, Unit("edge"), Neighbors.ADD_REMOVE) for one in edges))


def gapped(bits: Bits, size: int, scale: float) -> Steps:
    """Each of the numbers 0 ... size - 1 with probability 1 - exp(-1 / scale), by itself, in ascending order.

    The gap to the next one is geometric, which an exponential real of mean `scale`, rounded down, is.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> gapped(DeterministicBits(1), 60, 10.0)
    array([10, 34, 47, 53, 56])
    """
    found, last = [], -1
    expected = size / scale
    count = int(expected + 6 * math.sqrt(expected) + 16)
    while last < size:
        ahead = last + np.cumsum(rounded_exponential(bits, min(count, 2**22), scale) + 1)
        found.append(ahead)
        last = int(ahead[-1])
    every = np.concatenate(found)
    return every[every < size]
