"""How many records fall in each leaf of several public trees, and how deep they lie there on average."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.trees.forest_leaves import MOST, SLICE, check_trees, leaves_of
from discreet.schema.schema import Schema

COUNTS, LENGTHS = "records by leaf", "records by path length"
LONGEST = 2.0**10  # of a path
MOST_CELLS = 2**10


@recipe("leaf_counts")
def leaf_counts_of(schema: Schema, columns: tuple[str, ...], features: Array, cuts: Array, norm: Norm) -> BoundedSum:
    """One mark in each tree, at the leaf of a record: as many marks as there are trees.

    The number of records in leaf l of tree t is coordinate t * leaves + l. A missing value is below every cut.

    Parameters
    ----------
    features, cuts : arrays of shape (trees, 2**depth - 1)
        Public. As for `forest_leaves_of`.
    norm : {"l1", "l2"}
        Public. In which a record's marks are bounded.
    """
    schema.numbers(columns)
    check_one_of(COUNTS, "norm", norm, ("l1", "l2"))
    check_trees(features, cuts, len(columns))
    trees, leaves = len(features), features.shape[1] + 1
    check_size(COUNTS, trees * leaves, MOST)
    bound = Bound(norm, float(trees) if norm == "l1" else math.sqrt(trees) * (1 + 2.0**-50), nonnegative=True)
    splits, starts = features.astype(np.intp), leaves * np.arange(trees)[:, None]

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), trees * leaves))
        marks[np.arange(len(records)), starts + leaves_of(records, splits, cuts)] = 1.0
        return marks

    def total(records: Array) -> Array:
        codes = starts + leaves_of(records, splits, cuts)
        return np.bincount(codes.ravel(), minlength=trees * leaves).astype(np.float64)

    return BoundedSum(of, bound, columns, Grid(0), total)


@recipe("path_lengths")
def path_lengths_of(
    schema: Schema, columns: tuple[str, ...], features: Array, cuts: Array, lengths: Array, cells: int
) -> BoundedSum:
    """One mark, in the cell of the mean over all trees of the path lengths of a record's leaves.

    Parameters
    ----------
    features, cuts : arrays of shape (trees, 2**depth - 1)
        Public. As for `forest_leaves_of`.
    lengths : array of shape (trees, leaves)
        Public. The path length that stands for each leaf, from 0 to 1024.
    cells : int
        Public. Of equal width, between the least mean that there can be and the greatest; see `length_ends`.
    """
    schema.numbers(columns)
    check_trees(features, cuts, len(columns))
    check_whole(LENGTHS, "cells", cells, least=2, most=MOST_CELLS)
    shape = (len(features), features.shape[1] + 1)
    check_size(LENGTHS, math.prod(shape), MOST)
    if lengths.shape != shape or not ((lengths >= 0) & (lengths <= LONGEST)).all():
        obstacle = (
            f"the lengths of {shape[0]} trees of {shape[1]} leaves are {lengths.shape}, or not between 0 and 1024"
        )
        raise ParameterError(LENGTHS, obstacle, "Give one for each leaf.")
    splits, ends = features.astype(np.intp), length_ends(lengths, cells)[1:-1]

    def places(records: Array) -> NDArray[np.intp]:
        return np.searchsorted(ends, mean_lengths(records, splits, cuts, lengths))

    def of(records: Array) -> Array:
        return np.eye(cells)[places(records)]

    def total(records: Array) -> Array:
        return np.bincount(places(records), minlength=cells).astype(np.float64)

    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), columns, Grid(0), total)


def length_ends(lengths: Array, cells: int) -> Array:
    """The ends of cells of mean path lengths, the outer ones too.

    Examples
    --------
    >>> length_ends(np.array([[0.0, 4.0], [1.0, 2.0]]), 2)
    array([0.5 , 1.75, 3.  ])
    """
    return np.linspace(lengths.min(axis=1).mean(), lengths.max(axis=1).mean(), cells + 1)


def mean_lengths(records: Array, features: NDArray[np.intp], cuts: Array, lengths: Array) -> Array:
    """The mean over all trees of the path length of each record's leaf; tree by tree, so alike in every batch."""
    sums = np.zeros(len(records))
    for start in range(0, len(records), SLICE):
        found = leaves_of(records[start : start + SLICE], features, cuts)
        for own, leaves in zip(lengths, found, strict=True):
            sums[start : start + SLICE] += own[leaves]
    return np.asarray(sums / len(lengths))
