"""Triangles, stars and clustering of a graph."""

from __future__ import annotations

import math

from discreet.core.errors import ParameterError
from discreet.core.events import Composed
from discreet.core.receipt import Receipt
from discreet.graphs.asking import degree_bound_of, of_a_graph, whole_graph
from discreet.mechanisms.graphs.smooth_graph_count import SmoothGraphCount
from discreet.mechanisms.graphs.subgraphs import GraphFigure, KStars, Triangles, TruncatedTriangles
from discreet.questions.graphs.graph_statistic import WholeGraph
from discreet.releases.estimate import Estimate
from discreet.trust.private_graph import PrivateGraph


@of_a_graph
def triangles(
    data: PrivateGraph,
    *,
    max_degree: int | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release how many triangles a graph has.

    The noise is in proportion to what one edge, or node, could change in this graph and those nearby. That is secret,
    so there is no interval.

    Parameters
    ----------
    data : PrivateGraph
        The graph.
    max_degree : int, optional
        Public. Where the unit is a node: nodes with more edges are left out. See `choose_max_degree`; take more than
        most nodes have, since the noise grows with the number of nodes whose degree is about this.
    epsilon, delta : float
        Public. What this may cost; with a delta, there is less noise.

    Guarantee
    ---------
    The event on the receipt, one `SmoothGraphCount`: Nissim, Raskhodnikova and Smith 2007 for edges, and
    Kasiviswanathan, Nissim, Raskhodnikova and Smith 2013 for nodes.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data
    >>> clique = [(i, j) for i in range(30) for j in range(i)]
    >>> bool(abs(triangles(graph_data(clique, 30, Budget(9.0), unit="edge"), epsilon=9.0).value - 4060) < 2000)
    True
    """
    name = "triangles"
    graph = whole_graph(data, name)
    figure: GraphFigure = Triangles()
    most = degree_bound_of(name, graph, max_degree)
    if graph.unit.kind == "node":
        figure = TruncatedTriangles(most)
    return _counted(name, graph, SmoothGraphCount(epsilon, delta, figure), key)


@of_a_graph
def k_stars(
    data: PrivateGraph, k: int = 2, *, epsilon: float = 1.0, delta: float = 0.0, key: str | None = None
) -> Estimate:
    """Release how many ways there are to choose a node and k of its neighbors.

    Parameters
    ----------
    k : int
        Public. How many neighbors: 2 or more.

    Guarantee
    ---------
    The event on the receipt, one `SmoothGraphCount`: Karwa, Raskhodnikova, Smith and Yaroslavtsev 2011.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data
    >>> star = [(0, i) for i in range(1, 101)]
    >>> bool(abs(k_stars(graph_data(star, 101, Budget(9.0), unit="edge"), epsilon=9.0).value - 4950) < 2000)
    True
    """
    graph = whole_graph(data, "k-stars", "edge")
    return _counted(f"{k}-stars", graph, SmoothGraphCount(epsilon, delta, KStars(k)), key)


def _counted(name: str, graph: PrivateGraph, mechanism: SmoothGraphCount, key: str | None) -> Estimate:
    """One count, without an interval."""
    mechanism.check(graph.nodes)
    with graph.whole.permit(mechanism.event, name, key=key) as permit:
        value = float(permit.ask(WholeGraph(graph.nodes), mechanism))
    return _estimate(name, value, permit.receipt)


def _estimate(name: str, value: float, receipt: Receipt) -> Estimate:
    return Estimate(name=name, value=value, receipt=receipt, confidence=None)


@of_a_graph
def clustering(
    data: PrivateGraph, *, epsilon: float = 1.0, delta: float = 0.0, share: float = 0.5, key: str | None = None
) -> Estimate:
    """Release the clustering coefficient: how many of all pairs of neighbors of a node are neighbors themselves.

    Three times the number of triangles over the number of 2-stars, each with noise of its own; moved between 0 and 1.

    Parameters
    ----------
    share : float
        Public. The part of both that pays for the triangles; the rest pays for the 2-stars.

    Guarantee
    ---------
    The event on the receipt, two releases of `SmoothGraphCount` (Nissim, Raskhodnikova and Smith 2007).

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data
    >>> clique = [(i, j) for i in range(30) for j in range(i)]
    >>> clustering(graph_data(clique, 30, Budget(50.0), unit="edge"), epsilon=50.0).value > 0.8
    True
    """
    name = "clustering coefficient"
    graph = whole_graph(data, name, "edge")
    if not 0 < share < 1 or not math.isfinite(epsilon):
        raise ParameterError(name, f"share is {share}", "Give a part between 0 and 1 for the triangles.")
    parts = [
        SmoothGraphCount(part * epsilon, part * delta, figure)
        for part, figure in ((share, Triangles()), (1 - share, KStars(2)))
    ]
    for part in parts:
        part.check(graph.nodes)
    with graph.whole.permit(Composed(tuple(part.event for part in parts)), name, key=key) as permit:
        three, two = (float(permit.ask(WholeGraph(graph.nodes), part)) for part in parts)
    return _estimate(name, min(max(3 * three / max(two, 1.0), 0.0), 1.0), permit.receipt)
