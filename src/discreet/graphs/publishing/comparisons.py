"""Two simpler ways to publish a network, to compare with: randomised response, and a stochastic block model."""

from __future__ import annotations

import numpy as np

from discreet.core.checks import check_positive, check_seed, check_whole
from discreet.core.events import Composed
from discreet.graphs.asking import of_a_graph, whole_graph
from discreet.graphs.publishing.block_sampling import nearest_counts, sampled_edges
from discreet.graphs.publishing.publish_network import SAFE
from discreet.graphs.publishing.published_network import PublishedNetwork
from discreet.mechanisms.additive.laplace import DiscreteLaplace
from discreet.mechanisms.graphs.edge_response import EdgeResponse
from discreet.mechanisms.graphs.placed_groups import PlacedGroups
from discreet.questions.graphs.edge_sums import edge_blocks_of
from discreet.questions.graphs.graph_statistic import ENDS, WholeGraph
from discreet.trust.private_graph import PrivateGraph

BLOCKS = 0.2  # of epsilon, for the edges between groups


@of_a_graph
def randomized_network(data: PrivateGraph, *, density: float = 0.5, epsilon: float = 1.0) -> PublishedNetwork:
    """Publish a network by randomised response on every pair of nodes.

    It needs no model, and has far more edges than the graph: about a share 1 / (1 + e^epsilon) of all pairs.

    Parameters
    ----------
    density : float
        Public. The greatest share of pairs that are reported as edges without being any: see `EdgeResponse`.

    Guarantee
    ---------
    The event on the receipt, that of `EdgeResponse`: Warner 1965, for each pair of nodes.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 20) for i in range(20)]
    >>> randomized_network(graph_data(ring, 20, Budget(1.0), unit="edge")).receipt.epsilon
    1.0
    """
    name = "randomised response on edges"
    graph = whole_graph(data, name, "edge")
    response = EdgeResponse(epsilon, density)
    with graph.permit(response.event, name) as permit:
        found = permit.ask(WholeGraph(graph.nodes), response)
    groups = np.zeros(graph.nodes, np.int64)
    return PublishedNetwork(
        name=name, receipt=permit.receipt, confidence=None, edges=found.pairs, nodes=graph.names, groups=groups
    )


@of_a_graph
def block_model_network(
    data: PrivateGraph, *, communities: int = 12, epsilon: float = 1.0, random_state: int | None = None
) -> PublishedNetwork:
    """Publish a network drawn from a stochastic block model: groups, and how many edges each two of them have.

    Parameters
    ----------
    communities : int
        Public. How many groups there are at most.

    Guarantee
    ---------
    The event on the receipt, pure: that of `PlacedGroups`, and one count for each edge. Drawing edges is
    post-processing: Dwork, McSherry, Nissim and Smith 2006.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + 1) % 20) for i in range(20)]
    >>> made = block_model_network(graph_data(ring, 20, Budget(9.0), unit="edge"), epsilon=9.0, random_state=1)
    >>> abs(len(made.edges) - 20) < 10
    True
    """
    name = "stochastic block model"
    graph = whole_graph(data, name, "edge")
    check_positive(name, "epsilon", epsilon)
    check_whole(name, "communities", communities, least=2, most=128)
    check_seed(name, random_state)
    placed = PlacedGroups(epsilon * (1 - BLOCKS) * SAFE, int(communities))
    noise = DiscreteLaplace(1 / (epsilon * BLOCKS * SAFE))
    with graph.permit(Composed((placed.event, noise.event)), name) as permit:
        found = permit.ask(WholeGraph(graph.nodes), placed)
        groups = np.unique(found, return_inverse=True)[1].reshape(-1)
        cells = permit.ask(edge_blocks_of(graph.schema, ENDS, groups.astype(np.float64)), noise)
        generator = np.random.default_rng(permit.random_state(random_state))
    edges = sampled_edges(nearest_counts(cells, float(cells.sum())), groups, np.ones(graph.nodes), generator)
    return PublishedNetwork(
        name=name, receipt=permit.receipt, confidence=None, edges=edges, nodes=graph.names, groups=groups
    )
