"""Queries of graphs, on a network of friends where there is one: errors over the exact numbers, for edges and nodes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.rows import Row, at_most, missing, printed
from discreet.core.budget import Budget
from discreet.core.grid import Array, Steps
from discreet.graphs import (
    choose_max_degree,
    degree_histogram,
    degree_sequence,
    degrees,
    edge_count,
    graph_data,
    k_stars,
    synthetic_graph,
    triangles,
    weighted_triangles,
)
from discreet.mechanisms.graphs.subgraphs import KStars, Triangles
from discreet.questions.graphs.graph_statistic import degrees_of
from discreet.questions.graphs.weighted_joins import WeightedTriangles

FACEBOOK = Path(os.environ.get("DISCREET_DATA", "shared/data")) / "facebook_edges.txt.gz"
NODES, RUNS = 4039, 5


def rows() -> list[Row]:
    found = [at_most("million edges: count, degrees, sequence and histogram, seconds", million(), 300)]
    if not FACEBOOK.exists():
        return [*found, missing(f"queries of the network of friends: no {FACEBOOK}")]
    edges = np.loadtxt(FACEBOOK, dtype=np.int64)
    start = time.process_time()
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    found += [*edge_rows(edges), *node_rows(edges), *synthesis(edges)]
    return [*found, printed("all of these, seconds of processor time", time.process_time() - start)]


def opened(edges: Steps, unit: Literal["edge", "node"], nodes: int = NODES) -> Any:
    return graph_data(edges, nodes, Budget(100.0, 1e-3), unit=unit)


def off(ask: Callable[[], float | Array], exact: float | Array) -> float:
    """The root mean square of errors."""
    return float(np.sqrt(np.mean([np.square(np.asarray(ask()) - exact) for _ in range(RUNS)])))


def edge_rows(edges: Steps) -> list[Row]:
    graph, three, two = opened(edges, "edge"), Triangles().count(edges, NODES), KStars(2).count(edges, NODES)
    exact = degrees_of(edges, NODES).astype(np.float64)
    weighted = float(WeightedTriangles(NODES).steps(edges)[0]) / 2**30
    return [
        at_most(
            "edge, epsilon 1: edges, relative error",
            off(lambda: edge_count(graph).value, len(edges)) / len(edges),
            1e-4,
        ),
        at_most("triangles", off(lambda: triangles(graph).value, three) / three, 0.01),
        at_most("triangles with delta 1e-6", off(lambda: triangles(graph, delta=1e-6).value, three) / three, 0.01),
        at_most("2-stars", off(lambda: k_stars(graph).value, two) / two, 0.01),
        at_most("weighted triangles", off(lambda: weighted_triangles(graph).value, weighted) / weighted, 0.01),
        printed(
            "degrees, root mean square error, of which the noise is 2.83", off(lambda: degrees(graph).values, exact)
        ),
        printed("likely degrees", off(lambda: degrees(graph)["likely"].values, exact)),
        at_most("degree sequence", off(lambda: degree_sequence(graph).values, np.sort(exact)), 1.0),
    ]


def node_rows(edges: Steps) -> list[Row]:
    graph, three = opened(edges, "node"), Triangles().count(edges, NODES)
    chosen = choose_max_degree(graph, epsilon=0.5)
    histogram = np.bincount(degrees_of(edges, NODES)).astype(np.float64)

    def counted() -> Array:
        found = degree_histogram(graph, max_degree=chosen).values
        return np.cumsum(np.pad(found, (0, max(0, len(histogram) - len(found)))))[: len(histogram)]

    return [
        printed("node: bound on degrees that was chosen at epsilon 0.5 (the greatest is 1045)", float(chosen)),
        at_most(
            "edges at epsilon 1, relative error",
            off(lambda: edge_count(graph, max_degree=chosen).value, len(edges)) / len(edges),
            0.1,
        ),
        printed("cumulated degree histogram over nodes, root mean square", off(counted, np.cumsum(histogram)) / NODES),
        printed(
            "triangles at epsilon 1, relative error",
            off(lambda: triangles(graph, max_degree=chosen, epsilon=1.0).value, three) / three,
        ),
    ]


def synthesis(edges: Steps) -> list[Row]:
    made = synthetic_graph(opened(edges, "edge"), epsilon=2.0, max_iter=100_000, random_state=0).edges
    return [
        at_most("synthetic graph, epsilon 2: edges, relative error", abs(len(made) / len(edges) - 1), 0.02),
        printed(
            "its triangles over the exact number", Triangles().count(made, NODES) / Triangles().count(edges, NODES)
        ),
    ]


def million() -> float:
    """Seconds for a random graph of a million edges, of which 100,000 nodes have 20 each."""
    edges = np.random.default_rng(0).integers(0, 100_000, (1_000_000, 2))
    start = time.process_time()
    graph = opened(edges, "edge", 100_000)
    edge_count(graph)
    degrees(graph)
    degree_sequence(graph)
    degree_histogram(graph, 100)
    return time.process_time() - start
