"""Communities of a public graph: the method of Louvain, with many moves at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from discreet.core.grid import Array, Steps

ROUNDS = 60  # of moves on one level
STALLED = 4  # rounds without progress
LEAST = 1e-6  # progress


def modularity(adjacency: Any, groups: Steps) -> float:
    """The share of edges inside groups, less what it would be at random with the same degrees (Newman and Girvan 2004).

    Examples
    --------
    >>> pair = csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> modularity(pair, np.array([0, 0, 1, 1]))
    0.5
    """
    entries, degrees = coo_array(adjacency), np.asarray(adjacency.sum(axis=1)).ravel()
    total = degrees.sum()
    if total == 0:
        return 0.0
    inside = entries.data[groups[entries.coords[0]] == groups[entries.coords[1]]].sum()
    return float(inside / total - np.square(np.bincount(groups, degrees) / total).sum())


def louvain(adjacency: Any, random_state: int = 0) -> Steps:
    """The community of each node, such that the modularity is great (Blondel and others 2008).

    In each round every node finds the community that would gain most by it, and a random half of those that would
    change do so. Communities are then merged into nodes, until nothing moves. It sees the graph as it is, so its result
    is as private as the graph: use it on published, public or synthetic graphs.

    Parameters
    ----------
    adjacency : sparse array
        Symmetric.
    random_state : int
        Public. Seeds which half moves.

    Examples
    --------
    >>> two = csr_array(np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4)))
    >>> found = louvain(two)
    >>> bool((found[:4] == found[0]).all() and (found[4:] == found[4]).all() and found[0] != found[4])
    True
    """
    generator, weights = np.random.default_rng(random_state), csr_array(adjacency, dtype=np.float64)
    found = np.arange(weights.shape[0])
    while True:
        own = _moved(weights, generator)
        count = int(own.max(initial=-1)) + 1
        if count == weights.shape[0]:
            return found
        found = own[found]
        member = csr_array((np.ones(len(own)), (np.arange(len(own)), own)), shape=(len(own), count))
        weights = csr_array(member.T @ weights @ member)


def _moved(weights: Any, generator: np.random.Generator) -> Steps:
    """The communities of one level."""
    nodes, degrees = weights.shape[0], np.asarray(weights.sum(axis=1)).ravel()
    others = csr_array(weights - diags_array(weights.diagonal()))
    own = np.arange(nodes)
    best, stalled = modularity(weights, own), 0
    for turn in range(ROUNDS):
        wanted = _wanted(others, degrees, own)
        movers = np.flatnonzero((wanted != own) & (generator.random(nodes) < 0.5))
        if not (wanted != own).any():
            break
        new = own.copy()
        new[movers] = wanted[movers]
        found = modularity(weights, new)
        stalled = 0 if found > best + LEAST else stalled + 1
        if found > best or turn < 3:
            own, best = new, max(found, best)
        if stalled >= STALLED:
            break
    return np.unique(own, return_inverse=True)[1].reshape(-1)


def _wanted(others: Any, degrees: Array, own: Steps) -> Steps:
    """The community that each node would gain most by; its own, where no other is better."""
    count = int(own.max()) + 1
    member = csr_array((np.ones(len(own)), (np.arange(len(own)), own)), shape=(len(own), count))
    links = coo_array(others @ member)
    row, column = links.coords
    volume, total = np.bincount(own, degrees, count), max(float(degrees.sum()), 1.0)
    gain = links.data - degrees[row] * (volume[column] - (own[row] == column) * degrees[row]) / total
    stay = -degrees * (volume[own] - degrees) / total
    here = own[row] == column
    stay[row[here]] = gain[here]
    better = gain > stay[row] + 1e-9
    row, column, gain = row[better], column[better], gain[better]
    order = np.lexsort((gain, row))
    wanted = own.copy()
    wanted[row[order]] = column[order]
    return wanted
