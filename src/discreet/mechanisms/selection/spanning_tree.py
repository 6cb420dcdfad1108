"""A spanning tree of high scores: the exponential mechanism, edge after edge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Repeated
from discreet.core.grid import Steps
from discreet.mechanisms.selection.exponential import Exponential, ScoreChoice, below_best, noise_multiplier
from discreet.noise.noisy_argmax import gumbel_argmax

MOST_NODES = 2**10


@dataclass(frozen=True)
class SpanningTree(ScoreChoice):
    """Release the edges of a spanning tree whose scores are high: Kruskal's algorithm with exponential mechanisms.

    In each round the exponential mechanism chooses among the pairs of nodes that are not connected yet. There is a
    score for each pair, in the order of `itertools.combinations`.

    Parameters
    ----------
    epsilon : float
        Public. Pure epsilon of all rounds together.
    nodes : int
        Public. How many there are.

    Guarantee
    ---------
    `nodes` - 1 times the event of `Exponential(epsilon / (nodes - 1))`, adaptively composed: which pairs are left
    follows from what was chosen before. The choice of edges of MST, McKenna, Miklau and Sheldon 2021.

    Examples
    --------
    >>> SpanningTree(epsilon=1.0, nodes=5).event.times
    4
    """

    nodes: int = 3

    def __post_init__(self) -> None:
        check_whole("SpanningTree", "nodes", self.nodes, least=2, most=MOST_NODES)
        check_positive("SpanningTree", "epsilon", self.epsilon / (self.nodes - 1))

    @property
    def event(self) -> Repeated:
        rounds = self.nodes - 1
        return Repeated(Exponential(self.epsilon / rounds).event, rounds)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """The ends of each edge, in the order in which they were chosen: an array of shape (..., nodes - 1, 2)."""
        pairs = np.array([*combinations(range(self.nodes), 2)])
        if answer.size != len(pairs):
            obstacle = f"there are {answer.size} scores for {len(pairs)} pairs of {self.nodes} nodes"
            raise ParameterError("SpanningTree", obstacle, "Give a score for each pair.")
        multiplier = noise_multiplier(answer, self.epsilon / (self.nodes - 1))
        answer = answer.coarsened(multiplier, "linf")
        scores, scale = below_best(answer), answer.scale(multiplier, "linf")
        parts = np.broadcast_to(np.arange(self.nodes), (*scores.shape[:-1], self.nodes))
        chosen = []
        for _ in range(self.nodes - 1):
            joined = parts[..., pairs[:, 0]] == parts[..., pairs[:, 1]]
            edges = pairs[gumbel_argmax(bits, np.where(joined, -np.inf, scores), scale)]
            first, second = (np.take_along_axis(parts, edges[..., [end]], axis=-1) for end in (0, 1))
            parts = np.where(parts == second, first, parts)
            chosen.append(edges)
        return np.stack(chosen, axis=-2)

    def worst_neighbors(self) -> NeighborPair:
        """The scores that win fall and all the others rise."""
        size, rounds, bound = self.nodes * (self.nodes - 1) // 2, self.nodes - 1, Bound("linf", 1.0)
        high, low = rounds * [1] + (size - rounds) * [0], rounds * [0] + (size - rounds) * [1]
        return NeighborPair(whole_numbers(high, bound), whole_numbers(low, bound))
