"""Random graphs with given numbers of edges between blocks of nodes: post-processing of what was released."""

from __future__ import annotations

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.questions.graphs.edge_sums import cell

ROUNDS = 16  # of drawing again what was drawn twice


def nearest_counts(noisy: Array, total: float) -> Steps:
    """The whole numbers, at least zero and of about this sum, that are nearest to noisy ones.

    All are lowered by the same amount and moved up to zero: the projection on a simplex. So the many empty cells of a
    sparse table do not add up to edges that are not there.

    Examples
    --------
    >>> nearest_counts(np.array([9.0, 1.0, -2.0]), 8.0)
    array([8, 0, 0])
    """
    descending = np.sort(noisy)[::-1]
    above = (np.cumsum(descending) - max(total, 0.0)) / np.arange(1, len(noisy) + 1)
    last = np.flatnonzero(descending > above)
    lowered = noisy - (above[last[-1]] if last.size else np.inf)
    return np.rint(np.maximum(lowered, 0)).astype(np.int64)


def pairs_of_blocks(blocks: int) -> Steps:
    """The two blocks of each cell, in the order of `community_edges_of`."""
    high, low = np.tril_indices(blocks)
    return np.stack([low, high], axis=1)


def sampled_edges(counts: Steps, blocks: Steps, weights: Array, generator: np.random.Generator) -> Steps:
    """Distinct edges, as many in each cell as it counts, whose ends are drawn in proportion to weights.

    After Chung and Lu (2002), block by block: where an edge would be drawn twice, another is drawn, so no probability
    exceeds one. A cell that has too few pairs, or too few of any weight, gets fewer edges than it counts.

    Parameters
    ----------
    counts : array of shape (cells,)
        Edges between each two blocks, in the order of `community_edges_of`.
    blocks : array of shape (nodes,)
        The block of each node.
    weights : array of shape (nodes,)
        At least zero.
    generator : numpy Generator
        Where randomness comes from.
    """
    number = int(blocks.max()) + 1
    order = np.argsort(blocks, kind="stable")
    ends = np.concatenate([[0.0], np.cumsum(weights[order])])
    first = ends[np.searchsorted(blocks[order], np.arange(number + 1))]
    low, high = first[:-1], first[1:]
    of_cell = pairs_of_blocks(number)
    wanted, keys, nodes = _possible(counts, blocks, number), np.empty(0, np.int64), len(blocks)
    for _ in range(ROUNDS):
        missing = wanted - np.bincount(cell(blocks[_pairs(keys, nodes)]), minlength=len(wanted))
        drawn = of_cell[np.repeat(np.arange(len(wanted)), missing)]
        if not len(drawn):
            break
        place = low[drawn] + generator.random(drawn.shape) * (high - low)[drawn]
        found = order[np.clip(np.searchsorted(ends, place, side="right") - 1, 0, nodes - 1)]
        kept = (np.sort(blocks[found], axis=1) == drawn).all(axis=1) & (found[:, 0] != found[:, 1])
        keys = np.union1d(keys, found[kept].min(axis=1) * nodes + found[kept].max(axis=1))
    return _pairs(keys, nodes)


def fitted_edges(counts: Steps, blocks: Steps, weights: Array, generator: np.random.Generator) -> Steps:
    """The same, drawn twice: the weights of the second are corrected by the degrees of the first.

    In dense cells an edge is often drawn again, so that nodes of great weight get too few. One step of iterative
    proportional fitting (Deming and Stephan 1940) gives them what is missing; more steps were no better on graphs of
    dense circles.

    Examples
    --------
    >>> weights = np.array([9.0, 9.0, *[2.0] * 8])
    >>> len(fitted_edges(np.array([17]), np.zeros(10, np.int64), weights, np.random.default_rng(1)))
    17
    """
    first = sampled_edges(counts, blocks, weights, generator)
    wanted = weights * (2 * len(first) / max(float(weights.sum()), 1.0))
    drawn = np.bincount(first.ravel(), minlength=len(weights))
    return sampled_edges(counts, blocks, weights * (wanted + 1) / (drawn + 1), generator)


def _possible(counts: Steps, blocks: Steps, number: int) -> Steps:
    """No more edges than a cell has pairs of nodes."""
    sizes = np.bincount(blocks, minlength=number)
    low, high = pairs_of_blocks(number).T
    most = np.where(low == high, sizes[low] * (sizes[low] - 1) // 2, sizes[low] * sizes[high])
    return np.clip(counts, 0, most)


def _pairs(keys: Steps, nodes: int) -> Steps:
    return np.stack([keys // nodes, keys % nodes], axis=1)
