"""Joins of a graph's edges, weighted down so that one edge moves all of them together by one.

Proserpio, Goldberg and McSherry 2014 (wPINQ): what one edge takes part in many times gets little weight each time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import coo_array

from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Grid, Steps
from discreet.questions.graphs.graph_statistic import GraphStatistic, degrees_of

FINE = Grid(-30)


@dataclass(frozen=True)
class JointDegrees(GraphStatistic):
    """The degrees of both ends of each edge, in cells, with a weight of 1 / (4 max(d, e)) for degrees d and e.

    Let an edge join nodes that had d and e edges. It has a weight of at most 1 / (4 (max(d, e) + 1)). The d edges at
    the one end lose at most d / (4 d) and gain d / (4 (d + 1)) in other cells, and so at the other end: together at
    most 1/2 + d / (4 (d + 1)) + e / (4 (e + 1)) + 1 / (4 (max(d, e) + 1)), which is less than 1. Weights are floored,
    and the cells of lost and gained weights do not matter, so the bound holds as it is.

    Parameters
    ----------
    nodes : int
        Public. How many nodes there are.
    starts : tuple of int
        Public. The least degree of each class, ascending from 1; cells are pairs of classes (0, 0), (0, 1), (1, 1) ...

    Examples
    --------
    >>> path = np.array([[0, 1], [1, 2]])
    >>> JointDegrees(3, (1, 2)).grid.values(JointDegrees(3, (1, 2)).steps(path))
    array([0.  , 0.25, 0.  ])
    """

    starts: tuple[int, ...]

    unit = "edge"

    def __post_init__(self) -> None:
        if not self.starts or self.starts[0] != 1 or list(self.starts) != sorted(set(self.starts)):
            raise ParameterError("joint degrees", f"the classes start at {self.starts}", "Ascend from 1.")

    @property
    def bound(self) -> Bound:
        """The most that one edge moves all weights together."""
        return Bound("l1", 1.0)

    @property
    def grid(self) -> Grid:
        return FINE

    @property
    def size(self) -> int:
        """How many pairs of classes there are."""
        return len(self.starts) * (len(self.starts) + 1) // 2

    def steps(self, edges: Steps) -> Steps:
        """The weights of all cells."""
        ends = degrees_of(edges, self.nodes)[edges]
        weights = (1 << 28) // np.maximum(ends.max(axis=1), 1)
        return np.bincount(self.cells(ends), weights, minlength=self.size).astype(np.int64)

    def cells(self, degrees: Steps) -> Steps:
        """The cell of each pair of degrees."""
        pair = np.sort(np.searchsorted(self.starts, degrees, side="right") - 1, axis=1)
        return pair[:, 1] * (pair[:, 1] + 1) // 2 + pair[:, 0]


@dataclass(frozen=True)
class WeightedTriangles(GraphStatistic):
    """The sum over all triangles of one over the greatest degree of their three nodes.

    Let an edge join nodes that had d and e edges. It makes at most min(d, e) triangles, of weight 1 / (max(d, e) + 1)
    or less: together less than 1. Triangles that were there lose: at most d (d - 1) / 2 at the one end, 1 / (d (d + 1))
    each, so less than 1/2, and as much at the other end. Gains and losses have opposite signs. The sum is floored once,
    which the distance to 1 has room for.

    Parameters
    ----------
    nodes : int
        Public. How many nodes there are.

    Examples
    --------
    >>> WeightedTriangles(3).grid.values(WeightedTriangles(3).steps(np.array([[0, 1], [0, 2], [1, 2]])))
    array([0.5])
    """

    unit = "edge"

    @property
    def bound(self) -> Bound:
        """The most that one edge moves the sum."""
        return Bound("l1", 1.0)

    @property
    def grid(self) -> Grid:
        return FINE

    def steps(self, edges: Steps) -> Steps:
        """The sum, floored."""
        degrees = degrees_of(edges, self.nodes)
        rank = np.empty(self.nodes, dtype=np.int64)
        rank[np.lexsort((np.arange(self.nodes), degrees))] = np.arange(self.nodes)
        ends = np.sort(rank[edges], axis=1)
        lower = coo_array((np.ones(len(edges), np.int64), (ends[:, 1], ends[:, 0])), shape=(self.nodes, self.nodes))
        tops = (lower.tocsr() @ lower.tocsr()).multiply(lower.tocsr()).sum(axis=1)
        by_degree = np.bincount(np.sort(degrees), tops, minlength=1).astype(np.int64)
        whole = sum((Fraction(int(count), max(degree, 1)) for degree, count in enumerate(by_degree)), Fraction(0))
        return np.array([math.floor(whole / Fraction(self.grid.step))], dtype=np.int64)
