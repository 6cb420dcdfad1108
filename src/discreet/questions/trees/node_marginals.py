"""Counts of the values of each column, class by class, in each node of a public tree: what greedy splits need."""

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
from discreet.questions.trees.forest_leaves import DEEPEST, leaves_of
from discreet.schema.schema import Schema

ASKED = "values by node and class"


@recipe("node_marginals")
def node_marginals_of(
    schema: Schema, columns: tuple[str, ...], bins: int, target: str, features: Array, cuts: Array, norm: Norm
) -> BoundedSum:
    """One mark for each column, at the node of the record, the cell of the column and the class.

    As an array of shape (nodes, columns, bins, classes). A record with a missing value, or without a class, adds
    nothing.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns.
    bins : int
        Public. The number of cells of each.
    target : str
        Public. The column of classes.
    features, cuts : arrays of shape (1, 2**level - 1)
        Public. The tree so far: the place among `columns` of the feature that each node splits, and where; greater
        values go right. None for the root.
    norm : {"l1", "l2"}
        Public. In which a record's marks are bounded.
    """
    schema.values((*columns, target))
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    edges = [axis for axis in Domain.of(schema, columns, bins).edges if axis is not None]
    d, classes = len(columns), len(schema.category(target).values)
    _check(features, cuts, d, len(edges))
    nodes = features.shape[1] + 1
    size = nodes * d * bins * classes
    check_size(ASKED, size, MOST_CELLS)
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


def _check(features: Array, cuts: Array, columns: int, numbers: int) -> None:
    """Refuse what is no whole tree over these columns, or columns that are no numbers."""
    shaped = features.ndim == 2 and features.shape == cuts.shape and len(features) == 1
    nodes = features.shape[1] if shaped else 1 << DEEPEST
    whole = nodes & (nodes + 1) == 0 and nodes < 2**DEEPEST
    if not whole or numbers != columns or not np.isin(features, np.arange(columns)).all():
        raise ParameterError(
            ASKED,
            f"the {features.shape} features and {cuts.shape} cuts are no tree of {numbers} numeric columns",
            f"Give 2**level - 1 of each, for a level below {DEEPEST}, and numeric columns.",
        )
