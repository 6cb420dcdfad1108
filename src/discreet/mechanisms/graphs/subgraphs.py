"""Counts of small subgraphs: each knows how far one unit could move it, here and in graphs nearby."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from scipy.sparse import coo_array
from scipy.special import comb

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps

ROWS = 256  # of a matrix of common neighbors at a time


def adjacency_of(edges: Steps, nodes: int) -> Any:
    """The symmetric sparse matrix of a graph, in whole numbers.

    Examples
    --------
    >>> adjacency_of(np.array([[0, 2]]), 3).toarray()
    array([[0, 0, 1],
           [0, 0, 0],
           [1, 0, 0]])
    """
    both = np.concatenate([edges, edges[:, ::-1]])
    return coo_array((np.ones(len(both), np.int64), (both[:, 0], both[:, 1])), shape=(nodes, nodes)).tocsr()


class GraphFigure(Protocol):
    """A whole number about a graph, and a smooth bound on how far one unit moves it. It is a frozen dataclass.

    The bound is at least what one step can do here, and at most e**beta times what it is one step away. A step adds or
    removes an edge, or changes the edges of one node.
    """

    @property
    def unit(self) -> Literal["edge", "node"]: ...

    def count(self, edges: Steps, nodes: int) -> int: ...

    def smooth_bound(self, edges: Steps, nodes: int, beta: float) -> float: ...

    def largest(self, nodes: int) -> float:
        """The most that the count, and the bound, can be in any graph of so many nodes."""
        ...


def smooth(levels: Iterable[float], beta: float, largest: float) -> float:
    """The maximum of exp(-beta s) levels[s], where no level is above the largest."""
    best = 0.0
    for distance, level in enumerate(levels):
        best = max(best, math.exp(-beta * distance) * level)
        if level >= largest or math.exp(-beta * (distance + 1)) * largest <= best:
            break
    return best


@dataclass(frozen=True)
class _Shared:
    """Pairs of nodes that have neighbors in common.

    Parameters
    ----------
    common : array
        How many, for each pair.
    single : array
        How many nodes are neighbors of one of the two alone, these two aside.
    adjacent : array of bool
        Whether the two are neighbors.
    """

    common: Steps
    single: Steps
    adjacent: Array


def _shared(edges: Steps, nodes: int) -> Iterator[_Shared]:
    """All pairs that have neighbors in common, some at a time."""
    matrix = adjacency_of(edges, nodes)
    degrees = matrix.sum(axis=1)
    for start in range(0, nodes, ROWS):
        part = matrix[start : start + ROWS]
        found = (part @ matrix * 4 + part).tocoo()
        first, second, both = found.row + start, found.col, found.data
        kept = (first < second) & (both >= 4)
        first, second, both = first[kept], second[kept], both[kept]
        common, adjacent = both // 4, both % 4
        yield _Shared(common, degrees[first] + degrees[second] - 2 * common - 2 * adjacent, adjacent > 0)


@dataclass(frozen=True)
class Triangles:
    """Three nodes, every two of which are neighbors.

    To add or remove an edge changes as many triangles as its ends have neighbors in common. After s other changes that
    is at most a + (s + min(s, b)) // 2, where a neighbors are common now and b nodes are neighbors of one end alone
    (Nissim, Raskhodnikova and Smith 2007, Claim 3.9), and at most `nodes` - 2. Of pairs with no common neighbor, every
    one is taken to have b as large as it likes.

    Examples
    --------
    >>> Triangles().count(np.array([[0, 1], [0, 2], [1, 2], [2, 3]]), 4)
    1
    """

    unit: ClassVar[Literal["edge"]] = "edge"

    def count(self, edges: Steps, nodes: int) -> int:
        return sum(int(pairs.common[pairs.adjacent].sum()) for pairs in _shared(edges, nodes)) // 3

    def smooth_bound(self, edges: Steps, nodes: int, beta: float) -> float:
        """How many one edge can change, discounted by the distance of the graph where it can."""
        most = np.full(nodes, -1, dtype=np.int64)
        most[0] = 2 * nodes
        for pairs in _shared(edges, nodes):
            np.maximum.at(most, pairs.common, pairs.single)
        (common,) = np.nonzero(most >= 0)
        single = most[common]
        levels = (
            float(np.minimum(common + (s + np.minimum(s, single)) // 2, nodes - 2).max()) for s in range(2 * nodes)
        )
        return smooth(levels, beta, nodes - 2)

    def largest(self, nodes: int) -> float:
        return float(comb(nodes, 3))


@dataclass(frozen=True)
class KStars:
    """A node with k of its neighbors: for each node, the number of ways to choose k.

    To add or remove an edge changes C(x, k - 1) + C(y, k - 1) of them, if its ends have x and y other neighbors. After
    s other changes that have added edges at the end with more, then at the other, it is the most it can be (Karwa,
    Raskhodnikova, Smith and Yaroslavtsev 2011).

    Parameters
    ----------
    k : int
        Public. How many neighbors.

    Examples
    --------
    >>> KStars(2).count(np.array([[0, 1], [0, 2], [1, 2], [2, 3]]), 4)
    5
    """

    k: int = 2

    unit: ClassVar[Literal["edge"]] = "edge"

    def __post_init__(self) -> None:
        check_whole("k-stars", "k", self.k, 2, 16)

    def count(self, edges: Steps, nodes: int) -> int:
        degrees = np.bincount(edges.ravel(), minlength=nodes)
        return sum(int(times) * math.comb(degree, self.k) for degree, times in enumerate(np.bincount(degrees)))

    def smooth_bound(self, edges: Steps, nodes: int, beta: float) -> float:
        """How many one edge can change, discounted by the distance of the graph where it can."""
        more, fewer = np.array(sorted(_others(edges, nodes))).T

        def level(s: int) -> float:
            first = np.minimum(s, nodes - 2 - more)
            second = np.minimum(s - first, nodes - 2 - fewer)
            return float((comb(more + first, self.k - 1) + comb(fewer + second, self.k - 1)).max())

        return smooth(map(level, range(2 * nodes)), beta, 2 * float(comb(nodes - 2, self.k - 1)))

    def largest(self, nodes: int) -> float:
        return nodes * float(comb(nodes - 1, self.k))


def _others(edges: Steps, nodes: int) -> set[tuple[int, int]]:
    """How many other neighbors two nodes have, the greater number first: pairs than which no other has more of both."""
    degrees = np.bincount(edges.ravel(), minlength=nodes)
    found = set(map(tuple, np.sort(degrees[edges] - 1, axis=1)[:, ::-1].tolist()))
    matrix, order = adjacency_of(edges, nodes), np.argsort(-degrees)
    for node in range(nodes):
        near = {node, *matrix.indices[matrix.indptr[node] : matrix.indptr[node + 1]].tolist()}
        apart = next((int(other) for other in order[: len(near) + 1] if other not in near), None)
        if apart is not None:
            pair = sorted((int(degrees[node]), int(degrees[apart])), reverse=True)
            found.add((pair[0], pair[1]))
    return _undominated(found)


def _undominated(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    best, kept = -1, set()
    for more, fewer in sorted(pairs, reverse=True):
        if fewer > best:
            best = fewer
            kept.add((more, fewer))
    return kept


@dataclass(frozen=True)
class TruncatedTriangles:
    """Triangles of the nodes that have at most `max_degree` edges; the others are left out with all of theirs.

    If the edges of one node change, it and the nodes whose degree passes `max_degree` may join or leave. Those have
    `max_degree` edges or one more; after s other nodes have changed, so have these s, and none whose degree is farther
    than s from there. Each node that joins or leaves has at most C(max_degree, 2) triangles (Kasiviswanathan, Nissim,
    Raskhodnikova and Smith 2013, section 4).

    Parameters
    ----------
    max_degree : int
        Public. The most edges of a node that is not left out.

    Examples
    --------
    >>> TruncatedTriangles(2).count(np.array([[0, 1], [0, 2], [1, 2], [2, 3]]), 4)
    0
    """

    max_degree: int = 8

    unit: ClassVar[Literal["node"]] = "node"

    def __post_init__(self) -> None:
        check_whole("truncated triangles", "max_degree", self.max_degree)

    def count(self, edges: Steps, nodes: int) -> int:
        kept = np.bincount(edges.ravel(), minlength=nodes) <= self.max_degree
        return Triangles().count(edges[kept[edges].all(axis=1)], nodes)

    def smooth_bound(self, edges: Steps, nodes: int, beta: float) -> float:
        """How many one node can change, discounted by the distance of the graph where it can."""
        degrees = np.bincount(edges.ravel(), minlength=nodes)
        away = np.maximum(self.max_degree - degrees, degrees - self.max_degree - 1)
        near = np.cumsum(np.bincount(away, minlength=nodes)[:nodes])
        levels = (float(min(nodes, 1 + s + near[s])) for s in range(nodes))
        return math.comb(self.max_degree, 2) * smooth(levels, beta, nodes)

    def largest(self, nodes: int) -> float:
        """The most at all nodes."""
        return nodes * float(max(1, math.comb(self.max_degree, 2)))


def check_size(figure: GraphFigure, nodes: int, most: float) -> None:
    """Refuse a figure that may be greater than what is counted."""
    if figure.largest(nodes) > most:
        obstacle = f"{type(figure).__name__} of {nodes} nodes may be too many to count"
        raise ParameterError("graph figure", obstacle, "Ask for smaller subgraphs, or of fewer nodes.")
