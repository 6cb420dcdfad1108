"""Weighted joins of a graph's edges: joint degrees and triangles that one edge moves by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.budget import Budget
from discreet.graphs.asking import asked_whole, estimated, of_a_graph, whole_graph
from discreet.questions.graphs.weighted_joins import JointDegrees, WeightedTriangles
from discreet.releases.columns import Series
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.trust.private_graph import PrivateGraph


def degree_classes(nodes: int) -> tuple[int, ...]:
    """Classes of degrees, each beginning at twice the one before.

    Examples
    --------
    >>> degree_classes(20)
    (1, 2, 4, 8, 16)
    """
    return tuple(2**i for i in range((nodes - 1).bit_length()))


@of_a_graph
def joint_degrees(
    data: PrivateGraph,
    starts: Sequence[int] | None = None,
    *,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Table:
    """Release which degrees are neighbors: a weight for each pair of classes of degrees.

    An edge between nodes of d and e edges has a weight of 1 / (4 max(d, e)), so that one edge more, with all edges
    whose degrees it changes, moves the weights by one at most.

    Parameters
    ----------
    starts : sequence of int, optional
        Public. The least degree of each class, ascending from 1; by default 1, 2, 4, 8, ...
    confidence : float
        Public. Of each interval.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: Proserpio, Goldberg and McSherry 2014; the proof for
    these weights is in `JointDegrees`.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 50) for i in range(50)]
    >>> found = joint_degrees(graph_data(ring, 50, Budget(9.0), unit="edge"), [1, 2, 3], epsilon=9.0)
    >>> bool(abs(found.values[2] - 50 / 8) < 2), found.labels["first"][2]
    (True, '2')
    """
    name = "joint degrees"
    check_confidence(name, confidence)
    graph = whole_graph(data, name, "edge")
    question = JointDegrees(graph.nodes, tuple(starts) if starts is not None else degree_classes(graph.nodes))
    released = asked_whole(graph, question, Budget(epsilon, delta), name, key)
    half = released.spread.half_width([1.0], confidence)
    pairs = [(str(a), str(b)) for i, b in enumerate(question.starts) for a in question.starts[: i + 1]]
    return Table(
        name=name,
        receipt=released.receipt,
        confidence=confidence,
        labels=dict(zip(("first", "second"), map(tuple, zip(*pairs, strict=True)), strict=True)),
        series=(Series.around("weight", released.values, half, np.full(len(pairs), released.spread.stddev)),),
    )


@of_a_graph
def weighted_triangles(
    data: PrivateGraph,
    *,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release the sum over all triangles of one over the greatest degree in each: one edge moves it by one at most.

    Its noise does not depend on the graph, and it has an interval, which `triangles` has not.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: Proserpio, Goldberg and McSherry 2014; the proof for
    these weights is in `WeightedTriangles`.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> clique = [(i, j) for i in range(30) for j in range(i)]
    >>> abs(weighted_triangles(graph_data(clique, 30, Budget(9.0), unit="edge"), epsilon=9.0).value - 4060 / 29) < 3
    True
    """
    name = "weighted triangles"
    graph = whole_graph(data, name, "edge")
    return estimated(name, graph, WeightedTriangles(graph.nodes), Budget(epsilon, delta), key, confidence)
