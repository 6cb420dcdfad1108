"""All graphs of a few nodes, and their neighbors under every relation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np

from discreet.core.grid import Steps


@cache
def pairs(nodes: int) -> Steps:
    """All pairs of nodes."""
    return np.array(list(combinations(range(nodes), 2)), dtype=np.int64)


@cache
def graphs(nodes: int) -> list[Steps]:
    """The edges of every graph; number k has the pairs whose bits are in k."""
    every = pairs(nodes)
    bits = 1 << np.arange(len(every))
    return [every[(number & bits) > 0] for number in range(2 ** len(every))]


def edge_neighbors(nodes: int) -> Iterator[tuple[int, int]]:
    """All pairs of graphs, by number, of which the second has one edge more."""
    for number in range(2 ** len(pairs(nodes))):
        for place in range(len(pairs(nodes))):
            if not number >> place & 1:
                yield number, number | 1 << place


def node_neighbors(nodes: int) -> Iterator[list[int]]:
    """Groups of graphs, by number, that differ in the edges of one node alone: any two of a group are neighbors."""
    for node in range(nodes):
        at = [place for place, pair in enumerate(pairs(nodes).tolist()) if node in pair]
        others = [place for place in range(len(pairs(nodes))) if place not in at]
        for rest in range(2 ** len(others)):
            base = sum(1 << place for i, place in enumerate(others) if rest >> i & 1)
            yield [base + sum(1 << place for i, place in enumerate(at) if own >> i & 1) for own in range(2 ** len(at))]


def replaced_apart(values: np.ndarray, nodes: int, order: float) -> float:
    """The farthest that one replaced edge moves the rows of a table with one row for each graph."""
    worst = 0.0
    for number in range(2 ** len(pairs(nodes))):
        without = [place for place in range(len(pairs(nodes))) if not number >> place & 1]
        rows = values[[number | 1 << place for place in without]]
        for row in rows:
            worst = max(worst, float(np.linalg.norm(rows - row, order, axis=1).max()))
    return worst
