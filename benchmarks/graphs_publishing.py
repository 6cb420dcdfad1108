"""Publishing a social network: the repaired pipeline against randomised response on edges and a block model."""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.rows import Row, at_least, at_most, missing, printed
from discreet.core.budget import Budget
from discreet.core.grid import Steps
from discreet.graphs import graph_data
from discreet.graphs.publishing.comparisons import block_model_network, randomized_network
from discreet.graphs.publishing.publish_network import publish_network
from discreet.graphs.publishing.utility import NetworkFigures, UtilityAgainstTruth
from discreet.trust.private_graph import PrivateGraph

NODES, RUNS = 4039, 5


def opened(edges: Steps, nodes: int, epsilon: float) -> PrivateGraph:
    return graph_data(edges, nodes, Budget(epsilon), unit="edge")


def rows() -> list[Row]:
    path = Path(os.environ.get("DISCREET_DATA", "data"), "facebook_edges.txt.gz")
    if not path.exists():
        return [missing("publishing the Facebook graph"), *large()]
    edges = np.sort(np.loadtxt(path, dtype=np.int64), axis=1)
    truth = NetworkFigures.of(edges, NODES)
    return [row for epsilon in (1.0, 2.0, 4.0) for row in published(edges, truth, epsilon)] + large()


def published(edges: Steps, truth: NetworkFigures, epsilon: float) -> list[Row]:
    """The mean of every figure over several networks, against randomised response; the worst is printed.

    Randomised response and a block model are drawn once: what they say of millions of pairs hardly varies.
    """
    at = f"Facebook, epsilon {epsilon:g}"
    start = time.process_time()
    networks = [publish_network(opened(edges, NODES, epsilon), epsilon=epsilon) for _ in range(RUNS)]
    seconds = (time.process_time() - start) / RUNS
    simple = block_model_network(opened(edges, NODES, epsilon), epsilon=epsilon)
    response = randomized_network(opened(edges, NODES, epsilon), epsilon=epsilon)
    model, theirs, *ours = (
        UtilityAgainstTruth(truth, NetworkFigures.of(one.edges, NODES)).errors for one in (simple, response, *networks)
    )
    found = [at_most(f"{at}: seconds of processor time", seconds, 60)]
    for name in theirs:
        errors = [one[name] for one in ours]
        found.append(at_most(f"{at}: {name}, mean of {RUNS}, against randomised response", mean(errors), theirs[name]))
        found.append(printed(f"{at}: {name}, worst of {RUNS}", max(errors)))
        found.append(printed(f"{at}: {name}, block model", model[name]))
    if epsilon == 2:
        apart = mean(one["communities (1 - NMI)"] for one in ours)
        found.append(at_least(f"{at}: NMI of communities, mean of {RUNS}", 1 - apart, 0.6))
    return found


def large(nodes: int = 50_000, edges: int = 1_000_000, groups: int = 40) -> list[Row]:
    """A graph of a million edges, nine in ten of them inside groups."""
    random = np.random.default_rng(1)
    own, weights = random.integers(groups, size=nodes), random.pareto(2.5, nodes) + 1
    order = np.argsort(own, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    first = np.searchsorted(own[order], np.arange(groups + 1))
    source = order[np.searchsorted(sums, random.random(edges + edges // 20) * sums[-1], side="right") - 1]
    inside = random.random(len(source)) < 0.9
    low = np.where(inside, sums[first[own[source]]], 0)
    high = np.where(inside, sums[first[own[source] + 1]], sums[-1])
    target = order[np.searchsorted(sums, low + random.random(len(source)) * (high - low), side="right") - 1]
    pairs = np.stack([source, target], axis=1)
    start = time.process_time()
    network = publish_network(opened(pairs, nodes, 2.0), communities=40, epsilon=2.0)
    seconds = time.process_time() - start
    return [
        at_most("a million edges: seconds of processor time", seconds, 300),
        printed("a million edges: edges published", float(len(network.edges))),
    ]
