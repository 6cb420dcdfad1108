"""How many records of each class fall in each leaf of several public trees."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import MOST_CELLS, Domain, place_among
from discreet.schema.schema import Schema

ASKED, DEEPEST, MOST = "leaves of a forest", 16, 2**22
SLICE = 2**13  # rows at a time, which stay in the cache
MARGINALS = "values by node and class"


@recipe("forest_leaves")
def forest_leaves_of(
    schema: Schema, columns: tuple[str, ...], target: str, features: Array, cuts: Array, norm: Norm
) -> BoundedSum:
    """One mark in each tree, at the leaf and the class of a record: as many marks as there are trees.

    The number of class k in leaf l of tree t is coordinate (t * leaves + l) * classes + k. A record without a class
    adds nothing; a missing value is below every cut.

    Parameters
    ----------
    columns : tuple of str
        Public. The columns that are split, numbers or categories; a category by its place in the list.
    features, cuts : arrays of shape (trees, 2**depth - 1)
        Public. The place among `columns` of the feature that each node splits, and where: greater values go right. The
        children of node i are 2 i + 1 and 2 i + 2.
    norm : {"l1", "l2"}
        Public. In which a record's marks are bounded.
    """
    *_, classes = schema.values((*columns, target))
    cells = len(schema.category(classes).values)
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    check_trees(features, cuts, len(columns))
    trees, leaves = len(features), features.shape[1] + 1
    size = trees * leaves * cells
    check_size(ASKED, size, MOST)
    bound = Bound(norm, float(trees) if norm == "l1" else math.sqrt(trees) * (1 + 2.0**-50), nonnegative=True)
    splits, starts = features.astype(np.intp), leaves * np.arange(trees)[:, None]

    def codes(records: Array) -> NDArray[np.intp]:
        """The coordinates of each record's marks, for records with a class: one row for each tree."""
        known = records[~np.isnan(records[:, -1])]
        found = starts + leaves_of(known[:, :-1], splits, cuts)
        return found * cells + known[:, -1].astype(np.intp)

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), size))
        marks[np.flatnonzero(~np.isnan(records[:, -1])), codes(records)] = 1.0
        return marks

    def total(records: Array) -> Array:
        return np.bincount(codes(records).ravel(), minlength=size).astype(np.float64)

    return BoundedSum(of, bound, (*columns, target), Grid(0), total)


def leaves_of(records: Array, features: NDArray[np.intp], cuts: Array) -> NDArray[np.intp]:
    """The leaf of each record in each tree, one row for each tree; a missing value goes left.

    Examples
    --------
    >>> leaves_of(np.array([[0.2], [0.9], [np.nan]]), np.zeros((1, 3), dtype=int), np.array([[0.5, 0.1, 0.7]]))
    array([[1, 3, 0]])
    """
    nodes, d = features.shape[1], records.shape[1]
    depth, found = (nodes + 1).bit_length() - 1, np.zeros((len(features), len(records)), dtype=np.intp)
    for start in range(0, len(records), SLICE):
        some = records[start : start + SLICE]
        flat, rows = some.ravel(), d * np.arange(len(some))
        for tree, (splits, values) in enumerate(zip(features, cuts, strict=True)):
            own = np.zeros(len(some), dtype=np.intp)
            for _ in range(depth):
                own += own + 1 + (flat.take(rows + splits.take(own)) > values.take(own))
            found[tree, start : start + SLICE] = own
    return found - nodes


def check_trees(features: Array, cuts: Array, columns: int) -> None:
    """Refuse what are not whole trees over these columns."""
    shaped = features.ndim == 2 and features.shape == cuts.shape and len(features) > 0
    nodes = features.shape[1] if shaped else 0
    whole = nodes > 0 and nodes & (nodes + 1) == 0 and nodes < 2**DEEPEST
    if not whole or not np.isin(features, np.arange(columns)).all():
        raise ParameterError(
            ASKED,
            f"the {features.shape} features and {cuts.shape} cuts are no trees of {columns} columns",
            f"Give arrays with a row for each tree of 2**depth - 1 nodes, and a depth from 1 to {DEEPEST}.",
        )


@recipe("node_marginals")
def node_marginals_of(
    schema: Schema, columns: tuple[str, ...], bins: int, target: str, features: Array, cuts: Array, norm: Norm
) -> BoundedSum:
    """One mark for each column, at the node of the record, the cell of the column and the class.

    As an array of shape (nodes, columns, bins, classes). A record with a missing value, or without a class, adds
    nothing.

    Parameters
    ----------
    bins : int
        Public. The number of cells of each.
    features, cuts : arrays of shape (1, 2**level - 1)
        Public. The tree so far: the place among `columns` of the feature that each node splits, and where; greater
        values go right. None for the root.
    norm : {"l1", "l2"}
        Public. In which a record's marks are bounded.
    """
    schema.values((*columns, target))
    check_one_of(MARGINALS, "norm", norm, ("l1", "l2"))
    edges = [axis for axis in Domain.of(schema, columns, bins).edges if axis is not None]
    d, classes = len(columns), len(schema.category(target).values)
    _check_tree(features, cuts, d, len(edges))
    nodes = features.shape[1] + 1
    size = nodes * d * bins * classes
    check_size(MARGINALS, size, MOST_CELLS)
    bound = Bound(norm, float(d) if norm == "l1" else math.sqrt(d) * (1 + 2.0**-50), nonnegative=True)
    splits = features.astype(np.intp)

    def codes(whole: Array) -> NDArray[np.intp]:
        """The coordinates of the marks of records without a missing value, one row for each."""
        cells = np.column_stack([place_among(own, whole[:, place]) for place, own in enumerate(edges)])
        own = leaves_of(whole[:, :-1], splits, cuts)[0]
        return ((own[:, None] * d + np.arange(d)) * bins + cells) * classes + whole[:, -1:].astype(np.intp)

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), size))
        there = np.flatnonzero(~np.isnan(records).any(axis=1))
        marks[there[:, None], codes(records[there])] = 1.0
        return marks

    def total(records: Array) -> Array:
        found = codes(records[~np.isnan(records).any(axis=1)])
        return np.bincount(found.ravel(), minlength=size).astype(np.float64)

    return BoundedSum(of, bound, (*columns, target), Grid(0), total)


def _check_tree(features: Array, cuts: Array, columns: int, numbers: int) -> None:
    """Refuse what is no whole tree over these columns, or columns that are no numbers."""
    shaped = features.ndim == 2 and features.shape == cuts.shape and len(features) == 1
    nodes = features.shape[1] if shaped else 1 << DEEPEST
    whole = nodes & (nodes + 1) == 0 and nodes < 2**DEEPEST
    if not whole or numbers != columns or not np.isin(features, np.arange(columns)).all():
        raise ParameterError(
            MARGINALS,
            f"the {features.shape} features and {cuts.shape} cuts are no tree of {numbers} numeric columns",
            f"Give 2**level - 1 of each, for a level below {DEEPEST}, and numeric columns.",
        )
