"""Degrees: of each node, in ascending order, and how many nodes have each."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression

from discreet.core.budget import Budget
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.graphs.asking import asked_whole, degree_bound_of, edges_in, nodes_in, of_a_graph, whole_graph
from discreet.mechanisms.online.online_sparse_vector import SparseVector
from discreet.questions.graphs.bounded_degree import FlowGains, ProjectedHistogram
from discreet.questions.graphs.edge_sums import edge_degrees_of
from discreet.questions.graphs.graph_statistic import ENDS, DegreeHistogram, GraphStatistic, SortedDegrees
from discreet.releases.ask import asked
from discreet.releases.columns import Series
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE, Spread, whole_half_width
from discreet.releases.table import Table
from discreet.trust.private_data import PrivateData
from discreet.trust.private_graph import PrivateGraph

POINTS, ROUNDS = 400, 60  # of a law of degrees, and how often it is improved
ABOVE = 1
MISSED = 0.1  # the chance that a bound which would do is not found


@of_a_graph
def degrees(
    data: PrivateData,
    *,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Table:
    """Release how many edges each node has.

    Parameters
    ----------
    data : PrivateGraph, or PrivateData of edges
        The graph; its unit is an edge.
    confidence : float
        Public. Of each interval.

    Returns
    -------
    Table
        A row for each node. Column `degree` is without bias and has intervals; column `likely` is between 0 and the
        number of other nodes, and on average nearer: what is expected of a degree, given what was released for it,
        if degrees follow the law under which all releases together are most likely.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: an edge adds one to two degrees. The column `likely` is
    post-processing: empirical Bayes (Robbins 1956; Kiefer and Wolfowitz 1956).

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 50) for i in range(50)]
    >>> found = degrees(graph_data(ring, 50, Budget(4.0), unit="edge"), epsilon=4.0)
    >>> bool(abs(found["likely"].values - 2).max() <= abs(found["degree"].values - 2).max())
    True
    """
    name = "degrees"
    check_confidence(name, confidence)
    data = edges_in(data, name)
    released = asked(data, edge_degrees_of(data.schema, ENDS), Budget(epsilon, delta), name, key)
    half = whole_half_width(released.spread, np.ones(1), confidence)
    noisy = Series.around("degree", released.values, half, released.spread.stddev)
    likely = Series("likely", likely_degrees(released.values, released.spread, nodes_in(data) - 1))
    names = data.names if isinstance(data, PrivateGraph) else np.arange(float(nodes_in(data)))
    return Table(
        name=name, receipt=released.receipt, confidence=confidence, labels={"node": names}, series=(noisy, likely)
    )


def likely_degrees(noisy: Array, spread: Spread, most: int) -> Array:
    """The expected degree of each node, under the law of degrees that makes what was released most likely."""
    top = max(1.0, min(float(most), float(noisy.max(initial=0.0))))
    support = np.unique(np.rint(np.r_[np.linspace(0, top, POINTS), np.geomspace(1, top, POINTS)]))
    values, places, counts = np.unique(noisy, return_inverse=True, return_counts=True)
    apart = np.abs(values[:, None] - support) / spread.law.scale(spread.stddev)
    exponent = apart if spread.law.laplace else np.square(apart) / 2
    kernel = np.exp(exponent.min(axis=1, keepdims=True) - exponent)
    weights = np.full(len(support), 1 / len(support))
    for _ in range(ROUNDS):
        posterior = kernel * weights
        posterior /= posterior.sum(axis=1, keepdims=True)
        weights = counts @ posterior / counts.sum()
    return np.asarray(((kernel * weights) @ support / (kernel @ weights))[places])


@of_a_graph
def degree_sequence(data: PrivateGraph, *, epsilon: float = 1.0, delta: float = 0.0, key: str | None = None) -> Table:
    """Release all degrees in ascending order, without saying whose they are: far less error than for named nodes.

    Noise is added to the sorted sequence, and the result is replaced by the nearest one that ascends and lies between 0
    and the number of other nodes. Where many nodes have one degree, that averages the noise of all of them.

    Returns
    -------
    Table
        A row for each rank.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: sorting brings sequences no farther apart. The rest is
    post-processing: constrained inference, Hay, Li, Miklau and Jensen 2009, Theorem 1.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 50) for i in range(50)]
    >>> found = degree_sequence(graph_data(ring, 50, Budget(4.0), unit="edge"), epsilon=4.0)
    >>> bool((np.diff(found.values) >= 0).all())
    True
    """
    name = "degree sequence"
    graph = whole_graph(data, name, "edge")
    released = asked_whole(graph, SortedDegrees(graph.nodes), Budget(epsilon, delta), name, key)
    ascending = np.clip(isotonic_regression(released.values).x, 0, graph.nodes - 1)
    return Table(
        name=name,
        receipt=released.receipt,
        confidence=None,
        labels={"rank": np.arange(1.0, graph.nodes + 1)},
        series=(Series("degree", ascending),),
    )


@of_a_graph
def degree_histogram(
    data: PrivateGraph,
    most: int | None = None,
    *,
    max_degree: int | None = None,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Table:
    """Release how many nodes have each degree.

    Parameters
    ----------
    data : PrivateGraph
        The graph.
    most : int, optional
        Public. Where the unit is an edge: the last row counts nodes with this degree or a greater one. By default the
        greatest degree that there can be.
    max_degree : int, optional
        Public. Where the unit is a node: the histogram is that of a projection of the graph, in which no node has more
        edges; the interval does not cover what that changes. See `choose_max_degree`.

    Returns
    -------
    Table
        A row for each degree.

    Guarantee
    ---------
    The event on the receipt: an edge moves two nodes from one row to another, and a node moves 2 `max_degree` others
    and itself (Day, Li and Lyu 2016; proof in `ProjectedHistogram`).

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 50) for i in range(50)]
    >>> degree_histogram(graph_data(ring, 50, Budget(1.0), unit="edge"), 3).labels["degree"]
    ('0', '1', '2', '3 or more')
    >>> len(degree_histogram(graph_data(ring, 50, Budget(1.0), unit="node"), max_degree=4))
    5
    """
    name = "degree histogram"
    check_confidence(name, confidence)
    graph = whole_graph(data, name)
    bound = degree_bound_of(name, graph, max_degree)
    last = _last(name, graph, bound, most)
    statistic: GraphStatistic = DegreeHistogram(graph.nodes, last)
    if graph.unit.kind == "node":
        statistic = ProjectedHistogram(graph.nodes, bound)
    released = asked_whole(graph, statistic, Budget(epsilon, delta), name, key)
    half = whole_half_width(released.spread, np.ones(1), confidence)
    rows = [str(degree) for degree in range(last + 1)]
    if last < bound:
        rows[-1] += " or more"
    return Table(
        name=name,
        receipt=released.receipt,
        confidence=confidence,
        labels={"degree": tuple(rows)},
        series=(Series.around("nodes", released.values, half, released.spread.stddev),),
    )


def _last(name: str, graph: PrivateGraph, bound: int, most: int | None) -> int:
    if most is None:
        return bound
    if graph.unit.kind == "node" or not (isinstance(most, int) and 1 <= most <= bound):
        remedy = f"Give 1 to {bound}, where the unit is an edge; where it is a node, max_degree alone."
        raise ParameterError(name, f"most is {most}", remedy)
    return most


@of_a_graph
def choose_max_degree(data: PrivateGraph, *, epsilon: float = 0.2, later: float = 1.0, key: str | None = None) -> int:
    """Choose a bound on degrees with noise: a power of two beyond which more edges would hardly be counted.

    The first `max_degree` whose doubling would let so few more edges count that the noise it adds to `edge_count`, and
    the noise of the choice itself, are more.

    Parameters
    ----------
    data : PrivateGraph
        The graph; its unit is a node.
    epsilon : float
        Public. What the choice costs.
    later : float
        Public. The epsilon of the release that the bound is for.

    Returns
    -------
    int
        At most the number of other nodes. It is released: use it as often as you like.

    Guarantee
    ---------
    `PureLoss(epsilon)`, one `SparseVector` (Lyu, Su and Li 2017) over gains that one node moves by 3/2.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data
    >>> circulant = [(i, (i + j) % 500) for i in range(500) for j in range(1, 9)]
    >>> choose_max_degree(graph_data(circulant, 500, Budget(5.0), unit="node"), epsilon=5.0) >= 8
    True
    """
    name = "bound on degrees"
    check_positive(name, "later", later)
    graph = whole_graph(data, name, "node")
    gains = FlowGains(graph.nodes)
    margin = SparseVector(epsilon).margin(MISSED, gains.bound.radius * 2)
    mechanism = SparseVector(epsilon, threshold=-1 / later - margin)
    with graph.whole.permit(mechanism.event, name, key=key) as permit:
        found = np.asarray(permit.ask(gains, mechanism))
    (above,) = np.nonzero(found == ABOVE)
    return gains.candidates[int(above[0])] if len(above) else graph.nodes - 1
