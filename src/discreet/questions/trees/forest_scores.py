"""How records of each class are spread over the scores that a forest gives them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_positive, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.trees.forest_leaves import MOST, forest_leaves_of, leaves_of
from discreet.schema.schema import Schema

ASKED = "scores of a forest"
FINER, FARTHEST = 16.0, 64.0  # cells are as wide as a unit / 16 around zero, and reach 64 times as far
MOST_CELLS = 2**10
SLICE = 2**13


def leaf_excess(counts: Array, shares: Array, more: float) -> Array:
    """How much more frequent each class is in a leaf than in all, held down as if `more` others were in it.

    Examples
    --------
    >>> leaf_excess(np.array([30.0, 10.0]), np.array([0.5, 0.5]), 40.0)
    array([ 0.125, -0.125])
    """
    whole = counts.sum(axis=-1, keepdims=True)
    return np.asarray((counts - whole * shares) / np.maximum(np.maximum(whole, 0.0) + more, 1.0))


def score_ends(cells: int, unit: float) -> Array:
    """The ends of cells of scores, the outer ones too: narrow around zero, and each farther one wider."""
    reach = math.asinh(FARTHEST)
    return np.asarray(np.sinh(np.linspace(-reach, reach, cells + 1)) * unit / FINER)


def score_middles(cells: int, unit: float) -> Array:
    """What stands for the scores in each cell."""
    return score_ends(2 * cells, unit)[1::2]


@recipe("forest_scores")
def forest_scores_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    features: Array,
    cuts: Array,
    counts: Array,
    more: float,
    unit: float,
    cells: int,
    norm: Norm,
) -> BoundedSum:
    """One mark for each score, in its cell and by whether the record is of the class: of shape (scores, cells, 2).

    There is one score for the second of two classes, or one for each class: the mean over all trees of the excess of
    the class in the record's leaf. A record is taken out of its leaves first, so that it says nothing about itself. One
    without a class adds nothing; a missing value is below every cut.

    Parameters
    ----------
    columns, features, cuts
        Public. As for `forest_leaves_of`.
    counts : array of shape (trees, leaves * classes)
        Public. How many records of each class are in each leaf, as they were released before.
    more : float
        Public. Records that are added to each leaf, of which no class has an excess.
    unit : float
        Public. A usual excess, which cells are measured in.
    cells : int
        Public. The number of cells of each score.
    norm : {"l1", "l2"}
        Public. In which a record's marks are bounded.
    """
    forest_leaves_of(schema, columns, target, features, cuts, "l1")
    classes, splits = len(schema.category(target).values), features.astype(np.intp)
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    check_whole(ASKED, "cells", cells, least=2, most=MOST_CELLS)
    check_positive(ASKED, "unit", unit, least=2.0**-40, most=2.0**10)
    check_positive(ASKED, "more", more, least=2.0**-40, most=2.0**60)
    trees, leaves, scores = len(features), features.shape[1] + 1, 1 if classes == 2 else classes
    check_size(ASKED, counts.size, MOST)
    if counts.shape != (trees, leaves * classes) or not np.abs(counts).max() <= 2.0**60:
        obstacle = f"the counts of {trees} trees of {leaves} leaves and {classes} classes are {counts.shape}"
        raise ParameterError(ASKED, obstacle, "Give as many as were released, of 2**60 at most.")
    ends, size = score_ends(cells, unit)[1:-1], scores * cells * 2
    bound = Bound(norm, float(scores) if norm == "l1" else math.sqrt(scores) * (1 + 2.0**-50), nonnegative=True)
    table = counts.reshape(trees, leaves, classes)
    shares = class_shares(table)

    def places(records: Array) -> Iterator[NDArray[np.intp]]:
        """The coordinates of the marks of records with a class, class by class."""
        for kind in range(classes):
            some = records[records[:, -1] == kind]
            without = leaf_excess(table - np.eye(classes)[kind], shares, more)[:, :, -scores:]
            for start in range(0, len(some), SLICE):
                found = leaves_of(some[start : start + SLICE, :-1], splits, cuts)
                score = sum(own[leaf] for own, leaf in zip(without, found, strict=True)) / trees
                own = np.arange(scores) == kind if scores > 1 else np.array([kind == 1])
                yield (np.arange(scores) * cells + np.searchsorted(ends, score)) * 2 + own

    def of(records: Array) -> Array:
        marks, order = np.zeros((len(records), size)), np.argsort(records[:, -1], kind="stable")
        found = [*places(records), np.zeros((0, scores), dtype=np.intp)]
        known = order[: sum(map(len, found))]
        marks[known[:, None], np.concatenate(found)] = 1.0
        return marks

    def total(records: Array) -> Array:
        counts = np.zeros(size)
        for some in places(records):
            counts += np.bincount(some.ravel(), minlength=size)
        return counts

    return BoundedSum(of, bound, (*columns, target), Grid(0), total)


def class_shares(counts: Array) -> Array:
    """The share of each class, from noisy counts in leaves of shape (trees, leaves, classes); none is below zero."""
    found = np.maximum(counts.sum(axis=(0, 1)), 1.0)
    return np.asarray(found / found.sum())
