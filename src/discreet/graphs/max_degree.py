"""A bound on degrees, chosen with noise: what protects nodes needs one."""

from __future__ import annotations

import numpy as np

from discreet.graphs.asking import whole_graph
from discreet.mechanisms.online.online_sparse_vector import SparseVector
from discreet.questions.graphs.bounded_degree import FlowGains
from discreet.trust.private_graph import PrivateGraph

ABOVE = 1
MISSED = 0.1  # the chance that a bound which would do is not found


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
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

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
    graph = whole_graph(data, name, "node")
    gains = FlowGains(graph.nodes)
    margin = SparseVector(epsilon).margin(MISSED, gains.bound.radius * 2)
    mechanism = SparseVector(epsilon, threshold=-1 / later - margin)
    with graph.whole.permit(mechanism.event, name, key=key) as permit:
        found = np.asarray(permit.ask(gains, mechanism))
    (above,) = np.nonzero(found == ABOVE)
    return gains.candidates[int(above[0])] if len(above) else graph.nodes - 1
