"""Draws docs/publish_network.svg: a planted graph, the published network, and randomised response, as matrices.

python docs/network_figures.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from discreet import Budget
from discreet.core.grid import Steps
from discreet.graphs import graph_data, publish_network, randomized_network

NODES, EPSILON = 240, 2.0


def planted() -> Steps:
    """Six clubs, in which some know many."""
    random = np.random.default_rng(1)
    club, known = np.repeat(np.arange(6), NODES // 6), random.uniform(0.4, 1.6, NODES)
    pairs = np.stack(np.triu_indices(NODES, 1), axis=1)
    chance = np.where(club[pairs[:, 0]] == club[pairs[:, 1]], 0.4, 0.01) * known[pairs].prod(axis=1)
    return pairs[random.random(len(pairs)) < chance]


def main() -> None:
    """Draw the three side by side, nodes in the true order."""
    edges = planted()
    ours = publish_network(
        graph_data(edges, NODES, Budget(EPSILON), unit="edge"), communities=10, tiers=2, epsilon=EPSILON, random_state=1
    )
    theirs = randomized_network(graph_data(edges, NODES, Budget(EPSILON), unit="edge"), epsilon=EPSILON)
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for ax, (name, shown) in zip(
        figure.subplots(1, 3),
        {"true graph": edges, "publish_network": ours.edges, "randomised response": theirs.edges}.items(),
        strict=True,
    ):
        both = np.concatenate([shown, shown[:, ::-1]])
        image = np.zeros((NODES, NODES))
        image[both[:, 0], both[:, 1]] = 1
        ax.imshow(image, cmap="Greys", interpolation="nearest")
        ax.set(title=f"{name}: {len(shown):,} edges", xticks=[], yticks=[])
    figure.savefig(Path(__file__).parent / "publish_network.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
