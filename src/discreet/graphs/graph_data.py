"""Graphs behind a curator: an edge list, a file, a networkx graph or a sparse matrix."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.ledger import Ledger
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import account_of
from discreet.schema.schema import Schema
from discreet.trust.curator import Curator
from discreet.trust.private_graph import PrivateGraph
from discreet.trust.sources.columns.decoding import objects
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.edge_list import EDGE, NODE, EdgeList, NodeGraph, graph_schema, places_of

ASKED = "graph"
BLANKS = " "
SEPARATORS = ",;\t" + BLANKS
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def read_edges(path: Path, schema: Schema) -> NDArray[Any]:
    """The two ends of each edge in a file, as they are written.

    Parameters
    ----------
    path : Path
        A text, which may be compressed (.gz). Ends are separated by a comma, a semicolon, a tab or blanks, and may
        stand in quotes; what follows them is not read.
    schema : Schema
        Public. That of the graph: the nodes.
    """
    left = _lines(path)
    found = [np.empty((0, 2), dtype=object)]
    for separator in SEPARATORS:
        ends = [_ends(line, separator) for line in left]
        tried = [place for place, two in enumerate(ends) if two is not None]
        pairs = objects([end for place in tried for end in ends[place] or ()]).reshape(-1, 2)
        is_edge = (places_of(pairs, schema) >= 0).all(axis=1)
        found.append(pairs[is_edge])
        taken = set(np.array(tried, dtype=np.intp)[is_edge].tolist())
        left = [line for place, line in enumerate(left) if place not in taken]
    return np.concatenate(found)


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise ParameterError(ASKED, f"there is no file {path}", "Give the path of a list of edges.")
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as why:
        raise ParameterError(ASKED, f"{path} cannot be read ({type(why).__name__})", "Check the file.") from None
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    return re.split(r"\r\n|\r|\n", data[len(mark) :].decode(MARKS.get(mark, "utf-8"), errors="replace"))


def _ends(line: str, separator: str) -> tuple[str, str] | None:
    """The first two fields of a line; None where there are fewer.

    Examples
    --------
    >>> _ends('"Lee, Ann",Bob,2020', ","), _ends("Ann Lee; Bob", ";"), _ends("7  8", BLANKS), _ends("7 8", ",")
    (('Lee, Ann', 'Bob'), ('Ann Lee', ' Bob'), ('7', '8'), None)
    """
    if '"' not in line:
        fields = line.split(None if separator == BLANKS else separator, 2)
    else:
        try:
            fields = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
        except csv.Error:  # too long
            fields = []
    return (fields[0], fields[1]) if len(fields) > 1 else None


def graph_data(
    edges: Any,
    nodes: int | Sequence[Any],
    ledger: Ledger | Budget,
    *,
    unit: Literal["edge", "node"],
    neighbors: Neighbors | None = None,
    bits: Bits | None = None,
) -> PrivateGraph:
    """Put a graph behind a curator. Its nodes are public, and its edges are private.

    Edges have no direction. They are made a set before anything is asked: loops, doubles, and pairs with an end that is
    not in the list of nodes are left out.

    Parameters
    ----------
    edges : array or sequence of pairs, path, networkx graph, or scipy sparse matrix
        The edges: two ends of each, and nothing else; a pair that has another form is left out. A file has one in each
        line, with a comma, a semicolon, a tab or blanks between the ends, which may stand in quotes; further fields are
        not read, and it may be compressed (.gz). Of a matrix, every entry that is not zero is an edge.
    nodes : int, or sequence of names
        Public. The nodes are 0 ... nodes - 1, or have these names. Never taken from the edges.
    ledger : Ledger or Budget
        The account. A budget alone is an account in memory. A ledger has to say what its unit is: `Unit("edge")` or
        `Unit("node")`.
    unit : {"edge", "node"}
        Public. What is hidden: one edge, or everything that one node has to do with any other. There is no default,
        since the second needs far more noise, and the first does not hide who knows many.
    neighbors : Neighbors, optional
        Public. For edges: added or removed, by default, or replaced by another, which makes their number public. For
        nodes, always replaced: two graphs on the same nodes are neighbors if they differ only in edges at one node.
    bits : Bits, optional
        Where noise comes from; anything but the system's makes releases that are not private.

    Examples
    --------
    >>> friends = [("ann", "bob"), ("bob", "ann"), ("bob", "cid"), ("cid", "cid"), ("cid", "eve")]
    >>> graph_data(friends, ["ann", "bob", "cid", "dan"], Budget(1.0), unit="edge")
    PrivateGraph(4 nodes; edge; add_remove)
    >>> graph_data(np.array([[0, 1], [1, 2]]), 3, Budget(1.0), unit="node")
    PrivateGraph(3 nodes; node; replace)
    """
    protected = {"edge": EDGE, "node": NODE}.get(unit)
    if protected is None:
        raise ParameterError(ASKED, f"the unit is {unit!r}", 'State what is hidden: "edge" or "node".')
    relation = neighbors or (Neighbors.ADD_REMOVE if protected is EDGE else Neighbors.REPLACE)
    if protected is NODE and relation is not Neighbors.REPLACE:
        obstacle = "its nodes are public, so that none is added or removed"
        raise ParameterError(ASKED, obstacle, "Leave the relation out: the edges of one node are replaced.")
    account = account_of(ledger, relation, protected)
    if account.unit is None:
        remedy = 'Open it for Unit("edge") or Unit("node"), as the graph is.'
        raise ParameterError(ASKED, "its ledger does not say whether an edge or a node is hidden", remedy)
    names = int(nodes) if isinstance(nodes, int | np.integer) else tuple(nodes)
    schema = graph_schema(names)
    pairs = read_edges(Path(edges), schema) if isinstance(edges, str | Path) else _pairs(edges, names)
    source = EdgeList(pairs, schema) if protected is EDGE else NodeGraph(pairs, schema)
    return PrivateGraph(Curator(source, relation, bits=bits), account)


def _pairs(edges: Any, nodes: int | tuple[Any, ...]) -> NDArray[Any]:
    """The two ends of each edge, as they are written."""
    if hasattr(edges, "tocoo"):
        return _entries(edges, nodes)
    if hasattr(edges, "nodes") and callable(getattr(edges, "edges", None)):
        edges = [pair[:2] for pair in edges.edges()]
    found = array_of(edges, 2)
    return found if found.size else np.empty((0, 2))


def _entries(matrix: Any, nodes: int | tuple[Any, ...]) -> NDArray[Any]:
    """Where a sparse matrix is not zero; the names of these places, where nodes have names."""
    count = nodes if isinstance(nodes, int) else len(nodes)
    if matrix.shape != (count, count):
        obstacle = f"the shape of its matrix is {matrix.shape}, and there are {count} nodes"
        raise ParameterError(ASKED, obstacle, "Give a row and a column for each node.")
    found = matrix.tocoo()
    places = np.stack([found.row, found.col], axis=1)[found.data != 0]
    return places if isinstance(nodes, int) else np.array(nodes, dtype=object)[places]
