"""A synthetic graph whose degrees, joint degrees and triangles are like what was released."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import isotonic_regression

from discreet.core.budget import Budget
from discreet.core.checks import check_seed, check_whole
from discreet.core.events import Composed
from discreet.core.grid import Array, Steps
from discreet.core.progress_bar import tracked
from discreet.core.receipt import Receipt
from discreet.graphs.asking import of_a_graph, whole_graph
from discreet.graphs.joint_degrees import degree_classes
from discreet.questions.graphs.graph_statistic import SortedDegrees, degrees_of
from discreet.questions.graphs.weighted_joins import JointDegrees, WeightedTriangles
from discreet.releases.least_noise import least_noise
from discreet.trust.private_graph import PrivateGraph

ASKED = "synthetic graph"
SHARPNESS = 20.0  # how many times surer than it is the chain is of what was released: it seeks, and need not wander
MOST_EXCHANGES = 10**7
SHARES = (0.4, 0.3, 0.3)  # of the budget, for degrees, joint degrees and triangles


@dataclass(frozen=True)
class SyntheticGraph:
    """A graph made from releases alone.

    Parameters
    ----------
    edges : array of shape (m, 2)
        Its edges; nodes are in the order of their degrees, and stand for nobody.
    nodes : int
        How many nodes it has.
    receipt : Receipt
        What the releases cost.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> synthetic_graph(graph_data([(0, 1), (1, 2)], 3, Budget(1.0), unit="edge")).nodes
    3
    """

    edges: Steps = field(repr=False)
    nodes: int
    receipt: Receipt = field(repr=False)


@of_a_graph
def synthetic_graph(
    data: PrivateGraph,
    *,
    max_iter: int = 50_000,
    random_state: int | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> SyntheticGraph:
    """Make a graph whose degrees, joint degrees and triangles are like those of a private one.

    The degree sequence, the joint degrees in classes and the weighted triangles are released. A graph with these
    degrees is drawn at random; then pairs of edges exchange ends, which keeps all degrees, more often where that brings
    it nearer to the other two releases than where it does not (Metropolis et al. 1953).

    Parameters
    ----------
    max_iter : int
        Public. How many exchanges are tried.
    random_state : int, optional
        Public. Seeds the graph that is drawn, not the noise.
    epsilon, delta : float
        Public. What this may cost: 40 % for degrees, and 30 % for each of the others.

    Guarantee
    ---------
    The event on the receipt, three releases; all else is post-processing. Proserpio, Goldberg and McSherry 2014, with
    the weights of `JointDegrees` and `WeightedTriangles`.

    Examples
    --------
    >>> from discreet.graphs import graph_data
    >>> ring = [(i, (i + j) % 50) for i in range(50) for j in (1, 2)]
    >>> made = synthetic_graph(graph_data(ring, 50, Budget(9.0), unit="edge"), epsilon=9.0, max_iter=1000)
    >>> abs(len(made.edges) - 100) < 20
    True
    """
    graph = whole_graph(data, ASKED, "edge")
    check_whole(ASKED, "max_iter", max_iter, 0, MOST_EXCHANGES)
    check_seed(ASKED, random_state)
    joint = JointDegrees(graph.nodes, degree_classes(graph.nodes))
    questions = (SortedDegrees(graph.nodes), joint, WeightedTriangles(graph.nodes))
    whole = graph.whole
    budgets = [Budget(share * epsilon, share * delta) for share in SHARES]
    spreads = [least_noise(whole, *pair) for pair in zip(questions, budgets, strict=True)]
    with whole.permit(Composed(tuple(spread.noise.event for spread in spreads)), ASKED, key=key) as permit:
        released = [permit.ask(question, spread.noise) for question, spread in zip(questions, spreads, strict=True)]
        rng = np.random.default_rng(permit.random_state(random_state))
    ascending = np.clip(isotonic_regression(released[0]).x, 0, graph.nodes - 1)
    edges = drawn_with(np.rint(ascending).astype(np.int64), rng)
    chain = _Chain(edges, graph.nodes, joint, released[1], float(released[2][0]), [one.stddev for one in spreads[1:]])
    return SyntheticGraph(chain.run(max_iter, rng), graph.nodes, permit.receipt)


def drawn_with(degrees: Steps, rng: np.random.Generator) -> Steps:
    """Edges of a graph with about these degrees: each node's ends are joined at random, to nodes with most ends left.

    Examples
    --------
    >>> drawn_with(np.array([1, 1, 2]), np.random.default_rng(0)).tolist()
    [[0, 2], [1, 2]]
    """
    left, found = degrees.copy(), []
    for node in np.argsort(-degrees, kind="stable").tolist():
        want, left[node] = int(left[node]), 0
        (open_nodes,) = np.nonzero(left)
        if not want or not len(open_nodes):
            continue
        times = rng.exponential(size=len(open_nodes)) / left[open_nodes]
        chosen = open_nodes[np.argsort(times)[:want]]
        left[chosen] -= 1
        found += [(min(node, other), max(node, other)) for other in chosen.tolist()]
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


class _Chain:
    """Exchanges of ends that bring joint degrees and triangles nearer to what was released; degrees stay."""

    def __init__(
        self, edges: Steps, nodes: int, joint: JointDegrees, weights: Array, triangles: float, errors: list[float]
    ) -> None:
        self._near: list[list[int]] = [[] for _ in range(nodes)]
        for a, b in edges.tolist():
            self._near[a].append(b)
            self._near[b].append(a)
        self._sets = [set(near) for near in self._near]
        self._degrees = np.maximum(degrees_of(edges, nodes), 1).tolist()
        self._class = (np.searchsorted(joint.starts, self._degrees, side="right") - 1).tolist()
        own = WeightedTriangles(nodes)
        self._joint = (joint.grid.values(joint.steps(edges)) - weights).tolist()
        self._triangles = float(own.grid.values(own.steps(edges))[0]) - triangles
        self._errors = [max(error, 1e-9) / SHARPNESS for error in errors]
        self._ends = edges.ravel().tolist()

    def run(self, rounds: int, rng: np.random.Generator) -> Steps:
        """Try this many exchanges."""
        if self._ends:
            picks, coins = rng.integers(0, len(self._ends), rounds).tolist(), rng.random((rounds, 6)).tolist()
            for step in tracked(rounds, "exchanges of edges"):
                self._try(self._ends[picks[step]], coins[step])
        pairs = [(a, b) for a, near in enumerate(self._near) for b in near if a < b]
        return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)

    def _try(self, a: int, coin: list[float]) -> None:
        """Edges ab and cd become ac and bd, if that is nearer, or now and then if it is not.

        Half of the time c is a neighbor of a neighbor of a, so that a triangle is made.
        """
        near = self._near
        b = _one(near[a], coin[0])
        c = _one(near[_one(near[a], coin[1])], coin[2]) if coin[3] < 0.5 else self._ends[int(coin[2] * len(self._ends))]
        d = _one(near[c], coin[4])
        if len({a, b, c, d}) < 4 or c in self._sets[a] or d in self._sets[b]:
            return
        moves, before = ((a, b, -1), (c, d, -1), (a, c, 1), (b, d, 1)), abs(self._triangles)
        cost = sum(self._changed(*move) for move in moves)
        cost += (abs(self._triangles) - before) / self._errors[1]
        if math.log(max(coin[5], 1e-300)) <= -cost:
            for one, old, new in ((a, b, c), (b, a, d), (c, d, a), (d, c, b)):
                near[one][near[one].index(old)] = new
            return
        for one, other, sign in reversed(moves):
            self._changed(one, other, -sign)

    def _changed(self, a: int, b: int, sign: int) -> float:
        """Add or take away an edge; how much farther off the joint degrees are then."""
        sets, degrees = self._sets, self._degrees
        top = max(degrees[a], degrees[b])
        self._triangles += sign * sum(1 / max(top, degrees[node]) for node in sets[a] & sets[b])
        for one, other in ((a, b), (b, a)):
            (sets[one].add if sign > 0 else sets[one].discard)(other)
        low, high = sorted((self._class[a], self._class[b]))
        cell = high * (high + 1) // 2 + low
        before = abs(self._joint[cell])
        self._joint[cell] += sign / (4 * top)
        return float(abs(self._joint[cell]) - before) / self._errors[0]


def _one(of: list[int], coin: float) -> int:
    return of[int(coin * len(of))]
