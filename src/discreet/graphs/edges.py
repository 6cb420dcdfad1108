"""How many edges a graph has, of all pairs or between parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import shown
from discreet.core.errors import ParameterError
from discreet.graphs.asking import degree_bound_of, edges_in, estimated, nodes_in, of_a_graph, whole_graph
from discreet.questions.columns.total import count_of
from discreet.questions.graphs.bounded_degree import FlowEdges
from discreet.questions.graphs.edge_sums import edge_blocks_of, edge_cut_of
from discreet.questions.graphs.graph_statistic import ENDS
from discreet.questions.question import BoundedQuestion
from discreet.releases.ask import asked
from discreet.releases.columns import Series
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE, whole_half_width
from discreet.releases.table import Table
from discreet.trust.private_data import PrivateData


@of_a_graph
def edge_count(
    data: PrivateData,
    *,
    max_degree: int | None = None,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release how many edges a graph has.

    Parameters
    ----------
    data : PrivateGraph, or PrivateData of edges
        The graph.

    Guarantee
    ---------
    The event on the receipt, one release of a number that an edge moves by one, or a node by `max_degree`
    (Kasiviswanathan, Nissim, Raskhodnikova and Smith 2013).

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 50) for i in range(50)]
    >>> abs(edge_count(graph_data(ring, 50, Budget(5.0), unit="edge"), epsilon=5.0).value - 50) < 10
    True
    >>> round(edge_count(graph_data(ring, 50, Budget(1.0), unit="node"), max_degree=3).standard_error, 1)
    4.2
    """
    return _edges("number of edges", data, max_degree, confidence, Budget(epsilon, delta), key)


@of_a_graph
def density(
    data: PrivateData,
    *,
    max_degree: int | None = None,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release the share of all pairs of nodes that are edges.

    Parameters
    ----------
    data : PrivateGraph, or PrivateData of edges
        The graph.

    Guarantee
    ---------
    The event on the receipt, one release of the number of edges (`edge_count`), which is divided by that of pairs.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 50) for i in range(50)]
    >>> 0 < density(graph_data(ring, 50, Budget(9.0), unit="edge"), epsilon=9.0).value < 0.1
    True
    """
    nodes = nodes_in(data) if isinstance(data, PrivateData) else 2
    unit = 2 / (nodes * (nodes - 1))
    return _edges("density", data, max_degree, confidence, Budget(epsilon, delta), key, unit)


def _edges(
    name: str, data: Any, most: int | None, confidence: float, budget: Budget, key: str | None, unit: float = 1
) -> Estimate:
    question: BoundedQuestion
    if isinstance(data, PrivateData) and data.unit.kind == "node":
        graph = whole_graph(data, name)
        question = FlowEdges(graph.nodes, degree_bound_of(name, graph, most))
    else:
        data = edges_in(data, name)
        if most is not None:
            degree_bound_of(name, whole_graph(data, name), most)
        question = count_of(data.schema, None)
    return estimated(name, data, question, budget, key, confidence, unit)


@of_a_graph
def block_counts(
    data: PrivateData,
    blocks: Sequence[int],
    *,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Table:
    """Release how many edges there are inside each block of nodes and between every two, all at the price of one.

    Parameters
    ----------
    data : PrivateGraph, or PrivateData of edges
        The graph; its unit is an edge.
    blocks : sequence of int
        Public. The block of each node, 0, 1, 2, ..., or -1 for none. Never found from the edges without paying.

    Returns
    -------
    Table
        A row for each pair of blocks.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: each edge is in one cell.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 50) for i in range(50)]
    >>> found = block_counts(graph_data(ring, 50, Budget(9.0), unit="edge"), [0] * 25 + [1] * 25, epsilon=9.0)
    >>> found.labels["first"], found.labels["second"]
    (('0', '0', '1'), ('0', '1', '1'))
    """
    name = "edges between blocks"
    check_confidence(name, confidence)
    data = edges_in(data, name)
    given = np.asarray(blocks, dtype=np.float64)
    if given.shape != (nodes_in(data),):
        raise ParameterError(name, f"there are {given.size} blocks", f"Give one for each of {nodes_in(data)} nodes.")
    released = asked(data, edge_blocks_of(data.schema, ENDS, given), Budget(epsilon, delta), name, key)
    count = int(given.max()) + 1
    pairs = [(str(a), str(b)) for b in range(count) for a in range(b + 1)]
    half = whole_half_width(released.spread, np.ones(1), confidence)
    return Table(
        name=name,
        receipt=released.receipt,
        confidence=confidence,
        labels=dict(zip(("first", "second"), map(tuple, zip(*pairs, strict=True)), strict=True)),
        series=(Series.around("edges", released.values, half, released.spread.stddev),),
    )


def _places(name: str, nodes: Iterable[int]) -> set[int]:
    """A set of nodes by their places; anything else is none."""
    try:
        return set(map(int, nodes))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, f"{shown(nodes)} is no set of nodes", "Give their places.") from None


@of_a_graph
def cut(
    data: PrivateData,
    first: Iterable[int],
    second: Iterable[int] | None = None,
    *,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release how many edges there are between two sets of nodes.

    For cuts of many sets, see `laplacian_sketch`: it answers all of them at one price.

    Parameters
    ----------
    data : PrivateGraph, or PrivateData of edges
        The graph; its unit is an edge.
    first : iterable of int
        Public. Places of nodes in the list of all.
    second : iterable of int, optional
        Public. The same, none of them in the first set; by default all other nodes.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: an edge moves the number by one.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 50) for i in range(50)]
    >>> abs(cut(graph_data(ring, 50, Budget(9.0), unit="edge"), range(25), epsilon=9.0).value - 2) < 6
    True
    """
    name = "cut"
    data = edges_in(data, name)
    nodes = nodes_in(data)
    own = _places(name, first)
    other = set(range(nodes)) - own if second is None else _places(name, second)
    if not own or not other or own & other or not own | other <= set(range(nodes)):
        obstacle = "its two sets are empty, overlap, or name a node that is not in the list"
        raise ParameterError(name, obstacle, f"Give places from 0 to {nodes - 1}, in one set each.")
    sides = np.zeros(nodes)
    sides[sorted(own)], sides[sorted(other)] = 1.0, -1.0
    return estimated(name, data, edge_cut_of(data.schema, ENDS, sides), Budget(epsilon, delta), key, confidence)
