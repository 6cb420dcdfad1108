"""Statistics of a graph that one node, whatever its edges are, moves only so far: for a public bound on degrees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from discreet.core.bound import Bound
from discreet.core.grid import Grid, Steps
from discreet.questions.graphs.graph_statistic import GraphStatistic, degrees_of

MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@dataclass(frozen=True)
class FlowEdges(GraphStatistic):
    """The number of edges, of which at most `max_degree` count at each node: the value of a fractional matching.

    The greatest sum of weights of edges, each between 0 and 1, that add up to at most `max_degree` at every node. It is
    the number of edges where no degree is greater, and less otherwise. Taking all edges of a node away lowers it by at
    most `max_degree`, and never raises it; so two graphs that differ in the edges of one node are no farther apart
    (Kasiviswanathan, Nissim, Raskhodnikova and Smith 2013, section 3). It is half of a maximum flow through two copies
    of the nodes, which is a whole number.

    Parameters
    ----------
    nodes, max_degree : int
        Public. How many nodes there are, and how many edges of each count at most.

    Examples
    --------
    >>> star = np.array([[0, 1], [0, 2], [0, 3]])
    >>> [FlowEdges(4, most).steps(star).tolist() for most in (1, 2, 3)]
    [[2], [4], [6]]
    """

    max_degree: int

    unit = "node"

    @property
    def bound(self) -> Bound:
        """Half of the most that one node moves it by."""
        return Bound("l1", self.max_degree / 2)

    @property
    def grid(self) -> Grid:
        return Grid(-1)

    def steps(self, edges: Steps) -> Steps:
        n = self.nodes
        if not len(edges) or degrees_of(edges, n).max() <= self.max_degree:
            return np.array([2 * len(edges)], dtype=np.int64)
        both = np.concatenate([edges, edges[:, ::-1]])
        left = np.stack([np.full(n, 2 * n), np.arange(n)], axis=1)
        right = np.stack([np.arange(n, 2 * n), np.full(n, 2 * n + 1)], axis=1)
        arcs = np.concatenate([left, both + np.array([0, n]), right])
        room = np.concatenate([np.full(n, self.max_degree), np.ones(len(both), int), np.full(n, self.max_degree)])
        network = coo_array((room.astype(np.int32), tuple(arcs.T)), shape=(2 * n + 2, 2 * n + 2)).tocsr()
        return np.array([maximum_flow(network, 2 * n, 2 * n + 1).flow_value], dtype=np.int64)


@dataclass(frozen=True)
class ProjectedHistogram(GraphStatistic):
    """How many nodes have 0, 1, ..., `max_degree` edges, in a projection of the graph that has no greater degrees.

    Edges are looked at in a public order of all pairs, and kept where both ends have fewer than `max_degree` so far.
    If all edges of one node go, at most `max_degree` other nodes change their degree: each edge kept at the node raises
    one degree, which may later keep out an edge that would have been kept, so that the change moves to another node;
    and so on (Day, Li and Lyu 2016, Lemma 4). The node itself has one degree. Between two graphs that differ in the
    edges of one node, twice `max_degree` nodes and the node itself change cells.

    Parameters
    ----------
    nodes, max_degree : int
        Public. How many nodes there are, and the greatest degree of the projection.

    Examples
    --------
    >>> star = np.array([[0, 1], [0, 2], [0, 3]])
    >>> ProjectedHistogram(4, 2).steps(star).tolist()
    [1, 2, 1]
    """

    max_degree: int

    unit = "node"

    @property
    def bound(self) -> Bound:
        """Half of two for each node that changes its cell."""
        return Bound("l1", 2.0 * self.max_degree + 1)

    @property
    def size(self) -> int:
        return self.max_degree + 1

    def steps(self, edges: Steps) -> Steps:
        degrees = degrees_of(projected(edges, self.nodes, self.max_degree), self.nodes)
        return np.bincount(degrees, minlength=self.size).astype(np.int64)


def projected(edges: Steps, nodes: int, max_degree: int) -> Steps:
    """The edges that are kept, one after another in a public order, where both ends have room."""
    if not len(edges) or degrees_of(edges, nodes).max() <= max_degree:
        return edges
    room, kept = [max_degree] * nodes, []
    for place, (a, b) in enumerate(edges[public_order(edges, nodes)].tolist()):
        if room[a] and room[b]:
            room[a] -= 1
            room[b] -= 1
            kept.append(place)
    return edges[public_order(edges, nodes)][kept]


def public_order(edges: Steps, nodes: int) -> Steps:
    """An order of edges that is the same in every graph: by scrambled numbers of their pairs, none of them alike."""
    code = (edges[:, 0] * nodes + edges[:, 1]).astype(np.uint64)
    with np.errstate(over="ignore"):
        code = code + np.uint64(MIX[0])
        code = (code ^ (code >> np.uint64(30))) * np.uint64(MIX[1])
        code = (code ^ (code >> np.uint64(27))) * np.uint64(MIX[2])
    return np.argsort(code ^ (code >> np.uint64(31)))


@dataclass(frozen=True)
class FlowGains(GraphStatistic):
    """What the flow of `FlowEdges` gains if `max_degree` is doubled, per edge that a node may then have, negated.

    For 1, 2, 4, ... as `max_degree` d: minus the gain from d to 2 d, over 2 d. A node moves the one flow by d and the
    other by 2 d at most, so each number by 3/2 at most.

    Parameters
    ----------
    nodes : int
        Public. How many nodes there are.

    Examples
    --------
    >>> star = np.array([[0, 1], [0, 2], [0, 3]])
    >>> gains = FlowGains(4)
    >>> gains.candidates, gains.grid.values(gains.steps(star))
    ((1, 2), array([-0.5 , -0.25]))
    """

    unit = "node"

    @property
    def candidates(self) -> tuple[int, ...]:
        """The powers of two below the greatest degree that there can be."""
        return tuple(2**i for i in range((self.nodes - 2).bit_length()))

    @property
    def bound(self) -> Bound:
        """Half of the most that one node moves a number by."""
        return Bound("linf", 0.75)

    @property
    def grid(self) -> Grid:
        """So fine that every quotient is a whole number of steps."""
        return Grid(-26)

    @property
    def size(self) -> int:
        return len(self.candidates)

    def steps(self, edges: Steps) -> Steps:
        flows = [int(FlowEdges(self.nodes, 2**i).steps(edges)[0]) for i in range(self.size + 1)]
        gains = [(flows[i + 1] - flows[i]) << (24 - i) for i in range(self.size)]
        return -np.array(gains, dtype=np.int64)
