"""The edges of a graph as records, and graphs whose unit is a node."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Steps
from discreet.core.neighbors import Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.permit import KEPT
from discreet.trust.sources.columns.decoding import codes, numbers, unmasked
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source import Source

EDGE, NODE = Unit("edge"), Unit("node")
ENDS = ("source", "target")
MOST_NODES = 2**24


def graph_schema(nodes: int | tuple[str, ...]) -> Schema:
    """The public description of a graph: two columns, each a node, by its number or by its name.

    Examples
    --------
    >>> graph_schema(100).columns["target"]
    Number(lower=0, upper=99, step=1)
    """
    count = nodes if isinstance(nodes, int) else len(nodes)
    if not 2 <= count <= MOST_NODES:
        raise ParameterError("graph", f"it has {count} nodes", f"Give 2 to {MOST_NODES}.", nodes=count)
    end = Number(0, nodes - 1, step=1) if isinstance(nodes, int) else Category(nodes)
    return Schema(dict.fromkeys(ENDS, end))


def simple_edges(pairs: NDArray[Any], schema: Schema) -> Steps:
    """The set of edges in an array of pairs: two places in the list of nodes, the lesser one first, in order.

    Loops, doubles in either direction, and pairs with an end that is no node are left out; each pair is read by itself.

    Examples
    --------
    >>> simple_edges(np.array([[2, 1], [1, 2], [0, 0], [1, 9]]), graph_schema(3)).tolist()
    [[1, 2]]
    """
    pairs = unmasked(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        remedy = "Give two ends in each row, and no weight or time beside them: choose the edges that count first."
        raise ParameterError("graph", f"the shape of its edges is {pairs.shape}", remedy)
    ends = places_of(pairs, schema)
    low, high = ends.min(axis=1), ends.max(axis=1)
    there = (low >= 0) & (low < high)
    number = _count(schema)
    found = np.unique(low[there] * number + high[there])
    return np.stack([found // number, found % number], axis=1)


def _count(schema: Schema) -> int:
    end = schema.columns[ENDS[0]]
    return len(end.values) if isinstance(end, Category) else int(schema.number(ENDS[0]).upper) + 1


def places_of(ends: NDArray[Any], schema: Schema) -> Steps:
    """The place of each node in the list; -1, if it is not there."""
    end, raw = schema.columns[ENDS[0]], ends.ravel()
    found = (codes(raw, end) if isinstance(end, Category) else numbers(raw)).reshape(ends.shape)
    listed = (found >= 0) & (found < _count(schema)) & (found == np.floor(found))
    return np.where(listed, found, -1.0).astype(np.int64)


class Edges(Source):
    """A source whose records are the edges of a graph."""

    @abstractmethod
    def edges(self) -> Steps:
        """All edges: two places in the public list of nodes in each row, the lesser one first."""


class EdgeList(Matrix, Edges):
    """A graph whose unit is an edge: each edge is a record, so whatever sums over records can be asked.

    Parameters
    ----------
    pairs : array of shape (m, 2)
        The ends of each edge. `simple_edges` says what is left out.
    schema : Schema
        Public. That of a graph.
    """

    unit = EDGE

    def __init__(self, pairs: NDArray[Any], schema: Schema) -> None:
        self._edges = simple_edges(pairs, schema)
        super().__init__(self._edges.astype(np.float64), schema)

    def edges(self) -> Steps:
        return self._edges


class NodeGraph(Edges):
    """A graph whose unit is a node. Its edges are not records of their own, and sums over them are refused.

    Two graphs are neighbors if they have the same public nodes and differ only in edges at one of them.

    Parameters
    ----------
    pairs : array of shape (m, 2)
        The ends of each edge. `simple_edges` says what is left out.
    schema : Schema
        Public. That of a graph.
    """

    unit = NODE
    counted = True

    def __init__(self, pairs: NDArray[Any], schema: Schema) -> None:
        self._edges, self.schema = simple_edges(pairs, schema), schema

    def edges(self) -> Steps:
        return self._edges

    def sum(self, question: BoundedSum) -> Steps:
        """Refused: its bound is that of one edge."""
        return refused()

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Refused, as sums are."""
        return refused()

    def units(self) -> int:
        return _count(self.schema)


def refused(consequence: str = KEPT) -> NoReturn:
    """Say that one node may change many edges."""
    raise NotPermitted(
        "records of a graph whose unit is a node",
        "a node may have any number of edges, and what bounds a sum of records bounds one of them",
        'Ask the functions of discreet.graphs that protect nodes, or open the graph with unit="edge".',
        consequence,
    )
