"""Random graphs with given numbers of edges between blocks of nodes, and of triangles: post-processing of releases."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import diags_array

from discreet.core.grid import Array, Steps
from discreet.mechanisms.graphs.subgraphs import adjacency_of
from discreet.questions.graphs.edge_sums import cell

ROUNDS = 16  # of drawing again what was drawn twice
PROPOSED = 2**17  # swaps in a round, at most
COUNTED = (4, 16)  # rounds until triangles are counted again
STALLED = 4  # rounds without a swap, after which no more are looked for
TRIES = 8  # at a partner in the right block
OLD, NEW = ((0, 2), (1, 3)), ((0, 1), (2, 3))  # places of u, v, x, y


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
    """Counts of edges, none above the number of pairs of nodes in its cell."""
    sizes = np.bincount(blocks, minlength=number)
    low, high = pairs_of_blocks(number).T
    most = np.where(low == high, sizes[low] * (sizes[low] - 1) // 2, sizes[low] * sizes[high])
    return np.clip(counts, 0, most)


def _pairs(keys: Steps, nodes: int) -> Steps:
    return np.stack([keys // nodes, keys % nodes], axis=1)


def triangle_count(adjacency: Any) -> float:
    """How many triangles a graph has."""
    return float((adjacency @ adjacency).multiply(adjacency).sum()) / 6


def closed(
    edges: Steps, blocks: Steps, triangles: float, rounds: int, power: float, generator: np.random.Generator
) -> Steps:
    """The graph after swaps that close triangles, until it has this many or no more are found.

    A swap takes two neighbors u and v of a node, and edges (u, x) and (v, y); it joins u with v and x with y in their
    place. Every degree stays, and so does the number of edges between each two blocks, since x is in the block of v and
    y in that of u. A swap is made if u and v, and x and y, are more alike than the ends of the edges that go:
    by how many neighbors they have in common, over a power of the product of their degrees. By that number alone,
    triangles are closed among nodes of high degree, and the greatest eigenvalues grow too far. Over the product, it is
    how many they have for each that is expected by their degrees (Leicht, Holme and Newman 2006); over the root of the
    product it is Salton's index, which finds more swaps.

    Parameters
    ----------
    edges : array of shape (m, 2)
        The graph.
    blocks : array of shape (nodes,)
        The block of each node.
    triangles : float
        How many are wanted.
    rounds : int
        How many rounds of swaps there are at most.
    power : float
        Of the product of degrees.
    generator : numpy Generator
        Where randomness comes from.
    """
    nodes = len(blocks)
    keys = np.unique(edges[:, 0] * nodes + edges[:, 1])
    due, seen, before, stalled = 0, 0, 0.0, 0
    for turn in range(rounds if len(keys) > 1 and nodes > 3 else 0):  # a swap needs two edges without a common end
        graph = adjacency_of(np.stack([keys // nodes, keys % nodes], axis=1), nodes)
        if turn == due:
            count = triangle_count(graph)
            if count >= triangles:
                break
            left = (triangles - count) * (turn - seen) / max(count - before, 1.0)  # rounds, at the pace so far
            due, seen, before = turn + int(np.clip(left, *COUNTED)), turn, count
        proposed = _absent(keys, nodes, _proposed(graph, blocks, min(PROPOSED, len(keys)), generator))
        swaps = _improving(graph, proposed[_once(_keys(proposed, nodes, OLD))], power)
        stalled = 0 if len(swaps) else stalled + 1
        if stalled == STALLED:
            break
        keys = _swapped(keys, nodes, swaps)
    return np.stack([keys // nodes, keys % nodes], axis=1)


def _absent(keys: Steps, nodes: int, swaps: Steps) -> Steps:
    """The swaps that make no edge that exists already."""
    new = _keys(swaps, nodes, NEW)
    there = keys[np.minimum(np.searchsorted(keys, new), len(keys) - 1)] == new
    return np.asarray(swaps[~there.any(axis=1)])


def _improving(graph: Any, swaps: Steps, power: float) -> Steps:
    """The swaps after which the ends of edges are more alike."""
    u, v, x, y = swaps.T
    scaled = diags_array(np.maximum(np.diff(graph.indptr), 1.0) ** -power) @ graph
    gain = _alike(scaled, u, v) + _alike(scaled, x, y) - _alike(scaled, u, x) - _alike(scaled, v, y)
    return np.asarray(swaps[gain > 0])


def _alike(scaled: Any, left: Steps, right: Steps) -> Any:
    """How many neighbors each pair has in common, over a power of their degrees."""
    return scaled[left].multiply(scaled[right]).sum(axis=1)


def _proposed(graph: Any, blocks: Steps, count: int, generator: np.random.Generator) -> Steps:
    """Swaps around random nodes, a row of nodes u, v, x, y for each."""
    degrees = np.diff(graph.indptr)

    def neighbor(of: Steps) -> Steps:
        return np.asarray(graph.indices[graph.indptr[of] + (generator.random(len(of)) * degrees[of]).astype(np.int64)])

    centre = generator.choice(np.flatnonzero(degrees > 0), count)
    u, v = neighbor(centre), neighbor(centre)
    x, y = neighbor(u), neighbor(v)
    for one, other, end in ((x, v, u), (y, u, v)):
        for _ in range(TRIES):
            wrong = np.flatnonzero(blocks[one] != blocks[other])
            one[wrong] = neighbor(end[wrong])
    fine = (blocks[x] == blocks[v]) & (blocks[y] == blocks[u]) & (u != v) & (x != y) & (x != v) & (y != u)
    return np.asarray(np.stack([u, v, x, y], axis=1)[fine])


def _swapped(keys: Steps, nodes: int, swaps: Steps) -> Steps:
    """The graph after all swaps that make no edge twice."""
    old, new = _keys(swaps, nodes, OLD), _keys(swaps, nodes, NEW)
    fine = _once(new)
    kept = np.ones(len(keys), bool)
    kept[np.searchsorted(keys, old[fine])] = False
    return np.sort(np.concatenate([keys[kept], new[fine].ravel()]))


def _keys(swaps: Steps, nodes: int, ends: tuple[tuple[int, int], tuple[int, int]]) -> Steps:
    """The numbers of the two edges that go, or come, with each swap."""
    pairs = [swaps[:, list(pair)] for pair in ends]
    return np.stack([pair.min(axis=1) * nodes + pair.max(axis=1) for pair in pairs], axis=1)


def _once(keys: Steps) -> Any:
    """Rows whose keys occur for the first time."""
    first = np.zeros(keys.size, bool)
    first[np.unique(keys.ravel(), return_index=True)[1]] = True
    return first.reshape(keys.shape).all(axis=1)
