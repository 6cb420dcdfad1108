"""Edges inside and across groups of nodes: at each node, and between blocks, in one bounded sum."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.graphs.edge_sums import MOST_BLOCKS, MOST_NODES, Places, checked_ends, ends_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Schema


@recipe("community_edges")
def community_edges_of(schema: Schema, ends: tuple[str, ...], groups: Array, blocks: Array) -> BoundedSum:
    """How many edges each node has inside its group, how many to other groups, and how many each two blocks have.

    First one number for each node, then another, then one for each cell: pairs of blocks (0, 0), (0, 1), (1, 1),
    (0, 2) ..., without order. An edge is inside a group or across, never both: it adds one to two of the first numbers
    or to two of the second, and one to its cell, so 3 in all, whatever it is. Parallel composition (McSherry 2009,
    Theorem 4) is here no more than that bound: inside and across cost the greater of both, not the sum.

    Parameters
    ----------
    schema : Schema
        Public. Its columns are nodes, by their places.
    ends : tuple of str
        Public. The two columns.
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
