"""Communities of the true graph by the fast algorithm of Newman: NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import GraphAnswer
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Steps


@dataclass(frozen=True)
class FastNewman:
    """Release communities of the true graph, without noise: NOT PRIVATE, whatever is done afterwards.

    Communities are merged as long as that raises the modularity, those that raise it most first (Newman 2004). There is
    no randomness, so one edge that changes the result is betrayed by it: no epsilon is enough.
    """

    event: ClassVar[NoPromise] = NoPromise("communities of the true graph: one edge can change them")

    def release(self, answer: GraphAnswer, bits: Bits) -> Steps:
        """The community of each node."""
        return fast_newman(answer.edges, answer.nodes)


def fast_newman(edges: Steps, nodes: int) -> Steps:
    """Greedy merging of communities by modularity, of which ties go to the first pair.

    Examples
    --------
    >>> fast_newman(np.array([[0, 1], [1, 2], [0, 2], [3, 4], [2, 3]]), 5).tolist()
    [0, 0, 0, 1, 1]
    """
    total, own = max(len(edges), 1), np.arange(nodes)
    share = np.bincount(edges.ravel(), minlength=nodes) / (2 * total)
    links: list[dict[int, float]] = [{} for _ in range(nodes)]
    for a, b in edges.tolist():
        links[a][b] = links[b][a] = links[a].get(b, 0.0) + 1 / (2 * total)
    while True:
        best, pair = 0.0, (0, 0)
        for a, linked in enumerate(links):
            for b, weight in linked.items():
                if a < b and weight - share[a] * share[b] > best + 1e-15:
                    best, pair = weight - share[a] * share[b], (a, b)
        if best <= 0:
            return np.unique(own, return_inverse=True)[1].reshape(-1)
        keep, gone = pair
        own[own == gone] = keep
        share[keep] += share[gone]
        for other, weight in links[gone].items():
            del links[other][gone]
            if other != keep:
                links[keep][other] = links[other][keep] = links[keep].get(other, 0.0) + weight
        links[gone] = {}
