"""Synthetic graphs of dense circles around hubs, of the kind that the constants of `publish_network` were set on."""

from __future__ import annotations

from statistics import mean

import numpy as np

from benchmarks.rows import Row, printed
from discreet.core.budget import Budget
from discreet.core.grid import Array, Steps
from discreet.graphs import graph_data
from discreet.graphs.publishing.comparisons import randomized_network
from discreet.graphs.publishing.publish_network import publish_network
from discreet.graphs.publishing.utility import NetworkFigures, UtilityAgainstTruth

NODES, HUBS, GRAPHS = 1500, 6, 3
FINENESS = ((None, None), (6, 8), (12, 8), (48, 3))  # communities and tiers


def circles(seed: int) -> Steps:
    """Each hub knows nearly all of its nodes; these are in dense circles, some know many, and few edges run across."""
    random = np.random.default_rng(seed)
    hub = np.sort(random.choice(HUBS, NODES, p=random.dirichlet(np.full(HUBS, 4.0))))
    known = np.minimum(random.pareto(3, NODES) + 0.5, 4)
    found = [random.integers(NODES, size=(NODES // 2, 2))]
    for one in range(HUBS):
        own = np.flatnonzero(hub == one)
        found.append(np.stack([np.full(len(own), own[0]), own], axis=1)[random.random(len(own)) < 0.95])
        found.append(_knit(own, 0.004 + 2 / len(own), known, random))
        placed = 0
        while placed < 1.3 * len(own):
            size = int(np.clip(np.exp(random.normal(3, 1)), 5, max(len(own) // 3, 6)))
            found.append(_knit(np.roll(own, random.integers(len(own)))[:size], random.beta(5, 2), known, random))
            placed += size
    edges = np.sort(random.permutation(NODES)[np.concatenate(found)], axis=1)
    return np.unique(edges[edges[:, 0] < edges[:, 1]], axis=0)


def _knit(nodes: Steps, density: float, known: Array, random: np.random.Generator) -> Steps:
    """Edges between these nodes, more at those that know many."""
    pairs = nodes[np.stack(np.triu_indices(len(nodes), 1), axis=1)]
    return np.asarray(pairs[random.random(len(pairs)) < np.minimum(density * np.sqrt(known[pairs].prod(axis=1)), 0.97)])


def rows() -> list[Row]:
    """Communities and eigenvalues by how fine the groups are, and of randomised response."""
    graphs = [circles(seed) for seed in range(GRAPHS)]
    truths = [NetworkFigures.of(edges, NODES) for edges in graphs]
    found = []
    for epsilon in (1.0, 2.0, 4.0):
        for communities, tiers in FINENESS:
            made = [
                publish_network(
                    graph_data(edges, NODES, Budget(epsilon), unit="edge"),
                    communities=communities,
                    tiers=tiers,
                    epsilon=epsilon,
                ).edges
                for edges in graphs
            ]
            name = "as by default" if communities is None else f"{communities} groups of {tiers} tiers"
            found += _compared(f"circles, epsilon {epsilon:g}, {name}", truths, made)
        noisy = [
            randomized_network(graph_data(edges, NODES, Budget(epsilon), unit="edge"), epsilon=epsilon).edges
            for edges in graphs
        ]
        found += _compared(f"circles, epsilon {epsilon:g}, randomised response", truths, noisy)
    return found


def _compared(name: str, truths: list[NetworkFigures], made: list[Steps]) -> list[Row]:
    errors = [
        UtilityAgainstTruth(truth, NetworkFigures.of(edges, NODES)).errors
        for truth, edges in zip(truths, made, strict=True)
    ]
    return [
        printed(f"{name}: {figure}, mean of {GRAPHS} graphs", mean(one[figure] for one in errors))
        for figure in ("communities (1 - NMI)", "eigenvalues")
    ]
