"""How much a published network resembles the true graph. It looks at the truth: for public or synthetic graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import eigsh

from discreet.core.grid import Array, Steps
from discreet.display.notebook import carded
from discreet.mechanisms.graphs.subgraphs import adjacency_of
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import drawn_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ROUNDS = 60  # of moves on one level
STALLED = 4  # rounds without progress
LEAST = 1e-6  # progress
EIGENVALUES, SOURCES = 10, 50


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


@dataclass(frozen=True)
class NetworkFigures:
    """Figures of one graph. They are exact: of a private graph, they are secret.

    Parameters
    ----------
    degrees : array
        Ascending.
    clustering, triangles, path_length : float
        The mean local clustering, the number of triangles, and the mean length of shortest paths from some nodes.
    eigenvalues : array
        The greatest of the adjacency matrix, descending.
    communities : array
        By `louvain`.
    modularity : float
        Of these.
    """

    degrees: Array
    clustering: float
    triangles: float
    path_length: float
    eigenvalues: Array
    communities: Steps
    modularity: float

    @classmethod
    def of(cls, edges: Steps, nodes: int, random_state: int = 0) -> NetworkFigures:
        """Compute all of them."""
        graph = adjacency_of(edges, nodes)
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        at = np.asarray((graph @ graph).multiply(graph).sum(axis=1)).ravel()
        sources = np.random.default_rng(random_state).choice(nodes, min(nodes, SOURCES), replace=False)
        lengths = shortest_path(graph, unweighted=True, indices=sources)
        reached = lengths[np.isfinite(lengths) & (lengths > 0)]
        communities = louvain(graph, random_state)
        return cls(
            np.sort(degrees),
            float(np.mean(at / np.maximum(degrees * (degrees - 1), 1))),
            float(at.sum() / 6),
            float(reached.mean()) if reached.size else 0.0,
            _greatest(graph),
            communities,
            modularity(graph, communities),
        )


def _greatest(graph: Any) -> Array:
    """The greatest eigenvalues, descending."""
    if graph.shape[0] <= 2 * EIGENVALUES:
        return np.asarray(np.linalg.eigvalsh(graph.toarray())[::-1][:EIGENVALUES])
    start = np.linspace(1, 2, graph.shape[0])
    return np.asarray(
        eigsh(graph.astype(np.float64), EIGENVALUES, which="LA", v0=start, return_eigenvectors=False)[::-1]
    )


@dataclass(frozen=True)
class UtilityAgainstTruth:
    """How far the figures of a network are from those of the true graph: not private.

    Parameters
    ----------
    truth, network : NetworkFigures
        Of both.
    """

    truth: NetworkFigures
    network: NetworkFigures

    @property
    def errors(self) -> dict[str, float]:
        """The distance in every respect; zero is best. That of communities is 1 less their mutual information."""
        true, made = self.truth, self.network
        every = np.arange(max(true.degrees[-1], made.degrees[-1]) + 1)
        below = [np.searchsorted(one.degrees, every, side="right") / len(one.degrees) for one in (true, made)]
        return {
            "degrees (KS)": float(np.abs(below[0] - below[1]).max()),
            "degrees (EMD)": float(np.abs(true.degrees - made.degrees).mean()),
            "clustering": abs(made.clustering - true.clustering),
            "triangles": abs(made.triangles - true.triangles) / max(true.triangles, 1),
            "modularity": abs(made.modularity - true.modularity),
            "communities (1 - NMI)": 1 - mutual_information(true.communities, made.communities),
            "path length": abs(made.path_length - true.path_length),
            "eigenvalues": float(np.abs(made.eigenvalues - true.eigenvalues).sum() / np.abs(true.eigenvalues).sum()),
        }

    def tabulated(self) -> Columns:
        """A row for each respect: the truth, the network, and the distance of both."""
        pairs = [_figures(one) for one in (self.truth, self.network)]
        errors = self.errors
        series = [
            Series(name, np.array([pair.get(one, np.nan) for one in errors]))
            for name, pair in zip(("truth", "network"), pairs, strict=True)
        ]
        return Columns({"figure": tuple(errors)}, (*series, Series("distance", np.array(list(errors.values())))))

    def __str__(self) -> str:
        return f"utility against the truth (NOT PRIVATE)\n{self.tabulated().text()}"

    def _repr_html_(self) -> str:
        return carded(self.tabulated().html("utility against the truth (NOT PRIVATE)"), "")

    def plot(self, ax: Axes | None = None) -> Axes:
        """The share of nodes with at least each degree, of both graphs."""
        ax = drawn_on("utility", ax)
        for name, one in (("truth", self.truth), ("network", self.network)):
            ax.step(np.maximum(one.degrees, 0.5), 1 - np.arange(len(one.degrees)) / len(one.degrees), label=name)
        ax.set(xscale="log", yscale="log", xlabel="degree", ylabel="share of nodes with at least that")
        ax.legend()
        return ax


def _figures(one: NetworkFigures) -> dict[str, float]:
    return {
        "degrees (EMD)": float(one.degrees.mean()),
        "clustering": one.clustering,
        "triangles": one.triangles,
        "modularity": one.modularity,
        "communities (1 - NMI)": float(len(np.unique(one.communities))),
        "path length": one.path_length,
        "eigenvalues": float(one.eigenvalues[0]),
    }


def mutual_information(first: Steps, second: Steps) -> float:
    """The mutual information of two partitions over the mean of their entropies: 1 if they are equal.

    Examples
    --------
    >>> mutual_information(np.array([0, 0, 1, 1]), np.array([5, 5, 2, 2]))
    1.0
    """
    rows, columns = (np.unique(one, return_inverse=True)[1] for one in (first, second))
    joint = np.bincount(rows * (columns.max() + 1) + columns) / len(rows)
    entropies = [_entropy(np.bincount(one) / len(one)) for one in (rows, columns)]
    mean = sum(entropies) / 2
    return 1.0 if mean == 0 else max(0.0, (sum(entropies) - _entropy(joint)) / mean)


def _entropy(shares: Array) -> float:
    some = shares[shares > 0]
    return float(-(some * np.log(some)).sum())


def utility_against_truth(true_edges: Steps, edges: Steps, nodes: int) -> UtilityAgainstTruth:
    """Compare a published network with the true graph.

    NOT PRIVATE: it reads the true graph, and every number of it tells something about that graph. Use it on public or
    synthetic graphs, to choose parameters before a private one is opened; its results about a private graph must not
    be published unless they are paid for.

    Parameters
    ----------
    true_edges, edges : array of shape (m, 2)
        Of the truth and of the network, by places in the list of nodes; none twice.
    nodes : int
        How many nodes there are.

    Examples
    --------
    >>> ring = np.array([(i, i + 1) for i in range(39)])
    >>> utility_against_truth(ring, ring, 40).errors["degrees (KS)"]
    0.0
    """
    return UtilityAgainstTruth(*(NetworkFigures.of(np.asarray(one), nodes) for one in (true_edges, edges)))
