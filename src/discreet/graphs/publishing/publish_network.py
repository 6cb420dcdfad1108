"""A network that resembles a private one: groups, degrees, blocks and triangles are released, and edges drawn anew."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discreet.core.checks import check_positive, check_seed, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event
from discreet.core.grid import Array, Steps
from discreet.graphs.asking import of_a_graph, whole_graph
from discreet.graphs.degrees import likely_degrees
from discreet.graphs.publishing.block_sampling import closed, fitted_edges, nearest_counts, pairs_of_blocks
from discreet.graphs.publishing.published_network import PublishedNetwork
from discreet.mechanisms.additive.laplace import DiscreteLaplace
from discreet.mechanisms.graphs.placed_groups import PlacedGroups
from discreet.mechanisms.graphs.smooth_graph_count import SmoothGraphCount
from discreet.questions.graphs.edge_sums import community_edges_of, edge_degrees_of
from discreet.questions.graphs.graph_statistic import ENDS, WholeGraph
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from discreet.trust.private_graph import PrivateGraph

SAFE = 1 - 2.0**-40  # so that rounding up the parts does not exceed the whole
# Parts of epsilon: chosen on planted partitions, and changed once after a look at scores on a graph of Facebook.
DEGREES, GROUPS, EDGES, TRIANGLES = 0.12, 0.66, 0.18, 0.04
# Set on synthetic graphs of overlapping circles around hubs, of LFR, and of joined power-law clusters.
RESOLUTION = 0.5  # of groups: 0.3 to 0.5 find communities best, 1 splits them
FEWEST, MOST = 4, 24  # groups by default
MOST_TIERS, MOST_BLOCKS = 16, 144
WORK = 2**23  # edges that are looked at for swaps, about: fewer rounds for large graphs
STRAY = 1e-3  # the weight of a node without any edge, where a block has no other


@dataclass(frozen=True)
class PublishingPlan:
    """What is released of a graph before a network is drawn, and what each part costs."""

    epsilon: float  # public: of all together

    def part(self, share: float) -> float:
        return self.epsilon * share * SAFE

    @property
    def degrees(self) -> DiscreteLaplace:
        """For the order in which nodes are put into groups."""
        return DiscreteLaplace(1 / self.part(DEGREES))

    @property
    def communities(self) -> int:
        """How many groups there are at most, by default: 3 x 2^epsilon, from 4 to 24.

        The greatest of k exponentials of mean 1 / epsilon is about ln(k) / epsilon. So k that grows as a power of a
        constant keeps the noise in the choice of a group as it is.

        Examples
        --------
        >>> [PublishingPlan(epsilon).communities for epsilon in (0.1, 1.0, 2.0, 4.0, 8.0)]
        [4, 6, 12, 24, 24]
        """
        return int(np.clip(3 * 2.0 ** min(self.epsilon, 8.0), FEWEST, MOST))

    def groups(self, count: int, weights: tuple[float, ...] = ()) -> PlacedGroups:
        return PlacedGroups(self.part(GROUPS), count, weights, RESOLUTION)

    @property
    def edges(self) -> DiscreteLaplace:
        """For degrees inside and across, and blocks."""
        return DiscreteLaplace(1 / self.part(EDGES))

    @property
    def triangles(self) -> SmoothGraphCount:
        return SmoothGraphCount(self.part(TRIANGLES))

    @property
    def event(self) -> Event:
        return Composed((self.degrees.event, self.groups(2).event, self.edges.event, self.triangles.event))


@of_a_graph
def publish_network(
    data: PrivateGraph,
    *,
    communities: int | None = None,
    tiers: int | None = None,
    epsilon: float = 1.0,
    random_state: int | None = None,
    key: str | None = None,
) -> PublishedNetwork:
    """Publish a network that resembles a private graph in its groups, degrees, blocks and triangles.

    Noisy degrees are released, and nodes put into groups in their order (`PlacedGroups`). Each group is cut into tiers
    of nodes with similar noisy degrees. Then all degrees inside groups and across are released, with the number of
    edges between each two tiers, and the number of triangles. The rest needs no data: the law of degrees is fitted,
    counts are made consistent, edges are drawn at random after Chung and Lu, and swapped until there are as many
    triangles.

    Parameters
    ----------
    communities : int, optional
        Public. How many groups there are at most, from 2 to 128. By default 3 x 2^epsilon, from 4 to 24: where noise is
        small, groups may be finer than communities are.
    tiers : int, optional
        Public. Into how many tiers each group is cut, from 1 to 16. By default such that there are about 144 in all,
        from 1 to 8 in a group.
    random_state : int, optional
        Public. Seeds the drawing of edges, which is no secret; the noise is drawn apart.

    Returns
    -------
    PublishedNetwork
        The network and the groups. Nothing else is released.

    Guarantee
    ---------
    The event on the receipt, pure, for the data set's own neighbors. It is the sum of four parts: degrees (an edge adds
    one to two of them), groups (`PlacedGroups`), degrees and blocks (an edge is inside a group or across, so it adds 3
    to one sum: `community_edges_of`), and triangles (`SmoothGraphCount`). Drawing edges is post-processing: Dwork,
    McSherry, Nissim and Smith 2006.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.graphs import graph_data
    >>> cliques = [(i, j) for i in range(60) for j in range(i) if i // 20 == j // 20]
    >>> graph = graph_data(cliques, 60, Budget(8.0), unit="edge")
    >>> network = publish_network(graph, communities=4, tiers=1, epsilon=8.0, random_state=1)
    >>> len(network.nodes), bool(abs(len(network.edges) - len(cliques)) < 200)
    (60, True)
    """
    name = "publish network"
    graph = whole_graph(data, name, "edge")
    check_positive(name, "epsilon", epsilon)
    plan = PublishingPlan(float(epsilon))
    communities = plan.communities if communities is None else communities
    check_whole(name, "communities", communities, least=2, most=128)
    tiers = int(np.clip(MOST_BLOCKS // communities, 1, 8)) if tiers is None else tiers
    check_whole(name, "tiers", tiers, most=MOST_TIERS)
    check_seed(name, random_state)
    plan.triangles.check(graph.nodes)
    about = (name, int(communities), int(tiers), float(epsilon), random_state)
    with graph.permit(plan.event, name, key=key) as permit:
        generator = np.random.default_rng(permit.random_state(random_state))
        made = permit.artefact(partial(_made, permit, graph, plan, int(communities), int(tiers), generator), about)
    return PublishedNetwork(
        name=name,
        receipt=permit.receipt,
        confidence=None,
        edges=np.asarray(made["edges"]).astype(np.int64),
        nodes=graph.names,
        groups=np.asarray(made["groups"]).astype(np.int64),
    )


def _made(
    permit: Permit, graph: PrivateGraph, plan: PublishingPlan, count: int, tiers: int, generator: np.random.Generator
) -> dict[str, Any]:
    """All releases, and the network that is drawn from them."""
    whole = WholeGraph(graph.nodes)
    noisy = permit.ask(edge_degrees_of(graph.schema, ENDS), plan.degrees)
    weights = np.clip(noisy, 1.0, max(graph.nodes - 1, 1))
    groups = permit.ask(whole, plan.groups(count, tuple(weights.tolist())))
    blocks = tiered(groups, weights, tiers)
    question = community_edges_of(graph.schema, ENDS, groups.astype(np.float64), blocks.astype(np.float64))
    counted = permit.ask(question, plan.edges)
    triangles = float(permit.ask(whole, plan.triangles))
    inside, across, cells = np.split(counted, (graph.nodes, 2 * graph.nodes))
    error = spread(graph, question, plan.edges)
    inside, across = (likely_degrees(one, error, graph.nodes - 1) + STRAY for one in (inside, across))
    edges = drawn_network(cells, groups, blocks, inside, across, generator)
    rounds = int(np.clip(WORK // max(len(edges), 1), 16, 90))
    for kept, most, power in ((blocks, 8, 1.0), (groups, rounds, 1.0), (groups, rounds, 0.5)):
        edges = closed(edges, kept, triangles, most, power, generator)
    return {"edges": edges, "groups": groups}


def tiered(groups: Steps, weights: Array, tiers: int) -> Steps:
    """The block of each node: its group, cut into tiers of equal total weight, the heaviest nodes first.

    Examples
    --------
    >>> tiered(np.array([0, 0, 1, 0, 1]), np.array([1.0, 4.0, 2.0, 2.0, 2.0]), 2)
    array([1, 0, 2, 1, 3])
    """
    order = np.lexsort((-weights, groups))
    sums = np.cumsum(weights[order]) - weights[order]
    starts = np.searchsorted(groups[order], groups[order])
    within = sums - sums[starts]
    total = np.bincount(groups, weights)[groups[order]]
    tier = np.minimum(np.floor(within / total * tiers), tiers - 1).astype(np.int64)
    found = np.empty(len(groups), np.int64)
    found[order] = groups[order] * tiers + tier
    return np.unique(found, return_inverse=True)[1].reshape(-1)


def drawn_network(
    cells: Array, groups: Steps, blocks: Steps, inside: Array, across: Array, generator: np.random.Generator
) -> Steps:
    """Edges drawn by noisy counts of cells and degrees, inside groups and across."""
    pairs = pairs_of_blocks(int(blocks.max()) + 1)
    group = np.empty(len(np.unique(blocks)), np.int64)
    group[blocks] = groups
    own = group[pairs[:, 0]] == group[pairs[:, 1]]
    if len(cells) != len(pairs):
        raise ParameterError("drawn network", f"there are {len(cells)} cells for {len(pairs)} pairs of blocks")
    drawn = []
    for kind, weights in ((own, inside), (~own, across)):
        counts = np.zeros(len(pairs), np.int64)
        if kind.any():
            counts[kind] = nearest_counts(cells[kind], float(cells[kind].sum()))
        drawn.append(fitted_edges(counts, blocks, weights, generator))
    return np.concatenate(drawn)
