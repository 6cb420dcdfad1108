"""What was published as private and is not: DP-LUSN, as it is described."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.as_published.fast_newman import FastNewman
from discreet.core.checks import check_positive, check_seed
from discreet.core.grid import Steps
from discreet.graphs.asking import of_a_graph, whole_graph
from discreet.graphs.publishing.publish_network import drawn_network
from discreet.graphs.publishing.published_network import PublishedNetwork
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.graphs.edge_sums import community_edges_of
from discreet.questions.graphs.graph_statistic import ENDS, WholeGraph
from discreet.trust.private_graph import PrivateGraph


@of_a_graph
def dp_lusn(
    data: PrivateGraph, *, waiver: str, epsilon: float = 1.0, random_state: int | None = None
) -> PublishedNetwork:
    """Publish a network by DP-LUSN, as it is described: NOT PRIVATE, despite its name. Use `publish_network`.

    Communities of the true graph are found by the fast algorithm of Newman; Laplace noise is added to the degrees
    inside, and edges between communities are drawn by noisy numbers. The noise would be right if the communities were
    public. They are not: they come from the true graph without noise, and the network shows them. In Zachary's karate
    club, 45 % of the edges change the communities when they are removed.

    Parameters
    ----------
    waiver : str
        Public. The owner's reason for a release without a promise.
    epsilon : float
        Public. Of the noise, which is charged; the communities are waived.

    Guarantee
    ---------
    None. The event is `NoPromise`, which a ledger admits by its owner's waiver only.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 20) for i in range(20)]
    >>> graph = graph_data(ring, 20, Budget(1.0), unit="edge")
    >>> dp_lusn(graph, waiver="a public graph", random_state=1).receipt.epsilon
    inf
    """
    name = "DP-LUSN (not private)"
    graph = whole_graph(data, name, "edge")
    check_positive(name, "epsilon", epsilon)
    check_seed(name, random_state)
    detection: Any = FastNewman()  # is not calibrated, and no worst neighbors: it promises nothing
    noise = Laplace(1 / epsilon)
    with graph.permit(detection.event, name, waiver=waiver) as waived, graph.permit(noise.event, name) as permit:
        groups: Steps = waived.ask(WholeGraph(graph.nodes), detection)
        places = groups.astype(np.float64)
        counted = permit.ask(community_edges_of(graph.schema, ENDS, places, places), noise)
    inside, across, cells = np.split(np.maximum(counted, 0.0), (graph.nodes, 2 * graph.nodes))
    edges = drawn_network(cells, groups, groups, inside, across, np.random.default_rng(random_state))
    return PublishedNetwork(
        name=name, receipt=waived.receipt, confidence=None, edges=edges, nodes=graph.names, groups=groups
    )
