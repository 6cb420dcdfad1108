"""The figure of the page about publishing a network: made-up graphs as matrices, and bits that can be replayed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from discreet import Budget
from discreet.core.grid import Steps
from discreet.graphs import graph_data, publish_network, randomized_network
from discreet.noise.deterministic import DeterministicBits
from discreet.trust.private_graph import PrivateGraph

NODES, EPSILON = 240, 2.0


def planted() -> Steps:
    """Six clubs, in which some know many."""
    random = np.random.default_rng(1)
    club, known = np.repeat(np.arange(6), NODES // 6), random.uniform(0.4, 1.6, NODES)
    pairs = np.stack(np.triu_indices(NODES, 1), axis=1)
    chance = np.where(club[pairs[:, 0]] == club[pairs[:, 1]], 0.4, 0.01) * known[pairs].prod(axis=1)
    return pairs[random.random(len(pairs)) < chance]


def opened(edges: Steps) -> PrivateGraph:
    """The graph with an account for one release."""
    return graph_data(edges, NODES, Budget(EPSILON), unit="edge", bits=DeterministicBits(1))


def networks() -> Figure:
    """The true graph, the published network and randomised response, nodes in the same order."""
    edges = planted()
    ours = publish_network(opened(edges), communities=10, tiers=2, epsilon=EPSILON, random_state=1)
    shown = {
        "true graph": edges,
        "publish_network": ours.edges,
        "randomised response": randomized_network(opened(edges), epsilon=EPSILON).edges,
    }
    drawn = Figure(figsize=(9, 3.2), layout="constrained")
    for ax, (name, one) in zip(drawn.subplots(1, 3), shown.items(), strict=True):
        image = np.zeros((NODES, NODES))
        image[one[:, 0], one[:, 1]] = image[one[:, 1], one[:, 0]] = 1
        ax.imshow(image, cmap="Greys", interpolation="nearest")
        ax.set_title(f"{name}: {len(one):,} edges", fontsize="medium")
        ax.set(xticks=[], yticks=[])
    return drawn


FIGURES: dict[str, Callable[[], Figure]] = {"publish_network.svg": networks}
