"""Numbers about a whole graph that one unit, an edge or a node, can move only so far."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from discreet.core.answer import Answer, GraphAnswer
from discreet.core.bound import Bound, Norm
from discreet.core.errors import NotPermitted
from discreet.core.grid import Grid, Steps, upwards
from discreet.core.neighbors import Neighbors
from discreet.questions.question import View

ENDS = ("source", "target")


@runtime_checkable
class GraphView(Protocol):
    """A view of records that are the edges of a graph."""

    def edges(self) -> Steps:
        """All edges: two places in the public list of nodes in each row, the lesser one first."""


def edges_of(view: View) -> Steps:
    """The edges of a whole graph, if this view shows one."""
    if not isinstance(view, GraphView):
        obstacle = "conditions and transformations are about records, and these are no longer a graph"
        raise NotPermitted("a whole graph", obstacle, "Ask without a condition.", "Nothing was released.")
    return view.edges()


@dataclass(frozen=True)
class WholeGraph:
    """All edges at once, for a mechanism that needs more than a sum over them. A curator alone can ask this.

    Parameters
    ----------
    nodes : int
        Public. How many nodes there are.
    """

    nodes: int

    columns = ENDS

    def answer(self, view: View) -> GraphAnswer:
        """The graph, and what its unit is."""
        return GraphAnswer(edges_of(view), self.nodes, view.unit, view.neighbors)


@dataclass(frozen=True)
class EdgeBound(Bound):
    """Contributions that are zero, or one in exactly two places: half the radius, which bounds the l1 norm.

    So the l2 sensitivity is sqrt(2) where one is added or removed, and 2 where it is replaced, and no coordinate moves
    by more than one. Sorting two vectors brings them no farther apart, so it holds for sorted sums, too. Only a
    question whose own contributions are so may have this bound.

    Examples
    --------
    >>> EdgeBound("l1", 2.0, True).sensitivity("l1", 10, Neighbors.REPLACE)
    4.0
    """

    def times(self, rows: int) -> EdgeBound:
        return EdgeBound(self.norm, upwards(Fraction(self.radius) * rows), self.nonnegative)

    def sensitivity(self, norm: Norm, size: int, neighbors: Neighbors) -> float:
        reach = neighbors.reach
        if norm == "l1":
            return self.radius * reach
        return self.radius / 2 * (math.sqrt(2 * reach) * (1 + 2.0**-49) if norm == "l2" else 1.0)


EDGE_ENDS = EdgeBound("l1", 2.0, nonnegative=True)


@dataclass(frozen=True)
class GraphStatistic(ABC):
    """Numbers about a whole graph, on a grid, and how far one unit moves them. A curator alone can ask this.

    A kind of statistic says which unit its bound is for. For a node, that is half of how far the numbers move between
    two graphs that differ in the edges of one node, since these are replaced.

    Parameters
    ----------
    nodes : int
        Public. How many nodes there are.
    """

    nodes: int

    unit: ClassVar[Literal["edge", "node"]]
    columns = ENDS

    @property
    @abstractmethod
    def bound(self) -> Bound:
        """Half of how far a node, or all of how far an edge that is added or removed, moves the numbers."""

    @property
    def grid(self) -> Grid:
        """What the numbers are counted in."""
        return Grid(0)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return 1

    @abstractmethod
    def steps(self, edges: Steps) -> Steps:
        """The numbers, in grid steps."""

    def answer(self, view: View) -> Answer:
        """The numbers, if the unit of the graph is the one that their bound is for."""
        if view.unit.kind != self.unit:
            obstacle = f"it bounds what one {self.unit} can do, and the unit of the graph is a {view.unit.kind}"
            raise NotPermitted(type(self).__name__, obstacle, "Ask what protects that.", "Nothing was released.")
        return Answer(self.steps(edges_of(view)), self.grid, self.bound, view.neighbors)


def degrees_of(edges: Steps, nodes: int) -> Steps:
    """How many edges each node has."""
    return np.bincount(edges.ravel(), minlength=nodes).astype(np.int64)


@dataclass(frozen=True)
class SortedDegrees(GraphStatistic):
    """All degrees, ascending. Sorting brings two sequences no farther apart, so the bound is that of the degrees.

    Parameters
    ----------
    nodes : int
        Public. How many nodes there are.

    Examples
    --------
    >>> SortedDegrees(4).steps(np.array([[0, 2], [1, 2]]))
    array([0, 1, 1, 2])
    """

    unit = "edge"

    @property
    def bound(self) -> Bound:
        """One edge adds one to two degrees."""
        return EDGE_ENDS

    @property
    def size(self) -> int:
        return self.nodes

    def steps(self, edges: Steps) -> Steps:
        return np.sort(degrees_of(edges, self.nodes))


@dataclass(frozen=True)
class DegreeHistogram(GraphStatistic):
    """How many nodes have 0, 1, 2, ... edges, and how many have `most` or more.

    Parameters
    ----------
    nodes : int
        Public. How many nodes there are.
    most : int
        Public. The last degree that is counted by itself with all greater ones.

    Examples
    --------
    >>> DegreeHistogram(4, 2).steps(np.array([[0, 2], [1, 2], [2, 3]]))
    array([0, 3, 1])
    """

    most: int

    unit = "edge"

    @property
    def bound(self) -> Bound:
        """One edge moves two nodes from one cell to another."""
        return Bound("l1", 4.0)

    @property
    def size(self) -> int:
        return self.most + 1

    def steps(self, edges: Steps) -> Steps:
        return np.bincount(np.minimum(degrees_of(edges, self.nodes), self.most), minlength=self.size).astype(np.int64)
