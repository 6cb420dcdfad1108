"""Sums over the edges of a graph: how many there are between blocks of nodes, and at each node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.graphs.graph_statistic import EDGE_ENDS, ENDS
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Category, Schema

Places = NDArray[np.intp]
MOST_BLOCKS = 2**11
MOST_NODES = 2**24


def node_count(schema: Schema, column: str = ENDS[0]) -> int:
    """How many nodes a column tells apart: values of a category, or whole numbers from zero on.

    Examples
    --------
    >>> node_count(Schema({"source": Category(("a", "b"))}))
    2
    """
    end = schema.columns.get(column)
    if isinstance(end, Category):
        return len(end.values)
    number = schema.number(column)
    if number.lower != 0 or number.step != 1 or not 1 <= number.upper < MOST_NODES:
        raise ParameterError("graph", f"column {column!r} is no list of nodes", "Open it with graph_data.")
    return int(number.upper) + 1


def ends_of(records: Array, nodes: int) -> Places:
    """The two nodes of each edge, and -1 for both where it is none: a loop, or an end that is no node."""
    with np.errstate(invalid="ignore"):
        listed = (records >= 0) & (records < nodes) & (records == np.floor(records))
        edge = listed.all(axis=1) & (records[:, 0] != records[:, 1])
    return np.where(edge[:, None], records, -1.0).astype(np.intp)


def checked_ends(schema: Schema, ends: tuple[str, ...]) -> tuple[str, ...]:
    """The two columns of a sum over edges, if they are two."""
    if len(ends) != 2:
        raise ParameterError("sum over edges", f"it has {len(ends)} ends", "Name two columns.")
    return schema.values(ends)


@recipe("edge_blocks")
def edge_blocks_of(schema: Schema, ends: tuple[str, ...], blocks: Array) -> BoundedSum:
    """One for each edge, in the cell of the blocks that its ends are in.

    Cells are the pairs of blocks (0, 0), (0, 1), (1, 1), (0, 2) ..., without order; an edge with an end in no block is
    in none.

    Parameters
    ----------
    blocks : array of shape (nodes,)
        Public. The block of each node: 0, 1, 2, ..., or -1 for none.
    """
    columns = checked_ends(schema, ends)
    count = int(blocks.max(initial=-1)) + 1 if blocks.ndim == 1 and blocks.size <= MOST_NODES else 0
    if not 1 <= count <= MOST_BLOCKS or blocks.min() < -1 or not np.array_equal(blocks, np.floor(blocks)):
        obstacle = "the blocks of its nodes are not numbers 0, 1, 2, ..., or -1 for none"
        raise ParameterError("edges between blocks", obstacle, f"Give one for each node, {MOST_BLOCKS} at most.")
    own, size = blocks.astype(np.intp), count * (count + 1) // 2

    def cells(records: Array) -> Places:
        ends = ends_of(records, len(own))
        pair = np.sort(own[ends], axis=1)
        cell = pair[:, 1] * (pair[:, 1] + 1) // 2 + pair[:, 0]
        return np.where((ends[:, 0] >= 0) & (pair[:, 0] >= 0), cell, size)

    def total(records: Array) -> Array:
        return np.bincount(cells(records), minlength=size + 1)[:size].astype(np.float64)

    def of(records: Array) -> Array:
        return np.asarray(cells(records)[:, None] == np.arange(size), dtype=np.float64)

    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), columns, Grid(0), total)


@recipe("edge_cut")
def edge_cut_of(schema: Schema, ends: tuple[str, ...], sides: Array) -> BoundedSum:
    """One for each edge from one side to the other.

    Parameters
    ----------
    sides : array of shape (nodes,)
        Public. 1 and -1 for the nodes of the two sides, 0 for those of none.
    """
    columns = checked_ends(schema, ends)
    if sides.ndim != 1 or not 1 <= sides.size <= MOST_NODES or not np.isin(sides, (-1, 0, 1)).all():
        raise ParameterError("cut", "its sides are not 1, -1, or 0 for none", "Give one for each node.")

    def of(records: Array) -> Array:
        ends = ends_of(records, len(sides))
        return np.asarray((sides[ends].prod(axis=1) < 0) & (ends[:, 0] >= 0), dtype=np.float64)[:, None]

    def total(records: Array) -> Array:
        return np.asarray(of(records).sum(axis=0))

    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), columns, Grid(0), total)


@recipe("edge_degrees")
def edge_degrees_of(schema: Schema, ends: tuple[str, ...]) -> BoundedSum:
    """One for each edge at both of its ends: how many edges each node has.

    Parameters
    ----------
    schema : Schema
        Public. Its columns are nodes, by their places; those of the first are all.
    """
    columns = checked_ends(schema, ends)
    nodes = node_count(schema, columns[0])

    def total(records: Array) -> Array:
        return np.bincount(ends_of(records, nodes).ravel() + 1, minlength=nodes + 1)[1:].astype(np.float64)

    def of(records: Array) -> Array:
        ends = ends_of(records, nodes)
        return np.asarray((ends[:, :, None] == np.arange(nodes)).any(axis=1), dtype=np.float64)

    return BoundedSum(of, EDGE_ENDS, columns, Grid(0), total)


@recipe("community_edges")
def community_edges_of(schema: Schema, ends: tuple[str, ...], groups: Array, blocks: Array) -> BoundedSum:
    """How many edges each node has inside its group, how many to other groups, and how many each two blocks have.

    First one number for each node, then another, then one for each cell: pairs of blocks (0, 0), (0, 1), (1, 1),
    (0, 2) ..., without order. An edge is inside a group or across, never both: it adds one to two of the first numbers
    or to two of the second, and one to its cell, so 3 in all, whatever it is. Parallel composition (McSherry 2009,
    Theorem 4) is here no more than that bound: inside and across cost the greater of both, not the sum.

    Parameters
    ----------
    groups, blocks : array of shape (nodes,)
        Public. The group and the block of each node: 0, 1, 2, ...
    """
    columns = checked_ends(schema, ends)
    for given in (groups, blocks):
        if given.ndim != 1 or not 1 <= given.size <= MOST_NODES or (given != np.floor(given)).any():
            raise ParameterError("edges of communities", "the groups are not whole numbers", "Give one for each node.")
        if given.min() < 0 or given.max() >= MOST_BLOCKS or len(groups) != len(blocks):
            remedy = f"Give numbers from 0 to {MOST_BLOCKS - 1}, as many groups as blocks."
            raise ParameterError("edges of communities", "a group or block is not among those allowed", remedy)
    own, block, nodes = groups.astype(np.intp), blocks.astype(np.intp), len(groups)
    size = 2 * nodes + cells_of(int(block.max()) + 1)

    def places(records: Array) -> Places:
        """The three places that each edge adds one to; those of what is no edge are beyond the last."""
        pair = ends_of(records, nodes)
        across = (own[pair[:, 0]] != own[pair[:, 1]]) * nodes
        found = np.stack([pair[:, 0] + across, pair[:, 1] + across, 2 * nodes + cell(block[pair])], axis=1)
        return np.where(pair[:, :1] >= 0, found, size)

    def total(records: Array) -> Array:
        return np.bincount(places(records).ravel(), minlength=size + 1)[:size].astype(np.float64)

    def of(records: Array) -> Array:
        return np.asarray((places(records)[:, :, None] == np.arange(size)).any(axis=1), dtype=np.float64)

    return BoundedSum(of, Bound("l1", 3.0, nonnegative=True), columns, Grid(0), total)


def cells_of(blocks: int) -> int:
    """How many pairs of blocks there are, each block with itself among them."""
    return blocks * (blocks + 1) // 2


def cell(pairs: Places) -> Places:
    """The number of each pair of blocks.

    Examples
    --------
    >>> cell(np.array([[0, 0], [1, 0], [1, 1], [0, 2]]))
    array([0, 1, 2, 3])
    """
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return high * (high + 1) // 2 + low
