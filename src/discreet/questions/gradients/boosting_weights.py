"""The weights that boosting gives to records, in each cell of each column: what its next stump is chosen by."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.gradients.gradients import exponential
from discreet.questions.gradients.shape_gradients import FINE, SLICE, STEEPEST, outputs_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import MOST_CELLS, Codes, Domain
from discreet.schema.schema import Schema

ASKED = "boosting weights"


@recipe("boosting_weights")
def boosting_weights_of(
    schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...], target: str, heights: Array, norm: Norm
) -> BoundedSum:
    """The sum of all weights, and of signed weights in each cell, as an array of shape (outputs, 1 + cells).

    There is one output for the second of two classes, or one for each class against the rest. The score of a record is
    the first height plus those of its cells; its margin m is the score, or minus the score if it is not of the class.
    Its weight is min(1, exp(-m)), which no other record determines, and its sign that of the class. A missing value is
    in no cell; a record without a class adds nothing.

    Parameters
    ----------
    schema : Schema
        Public.
    columns, bins : tuple
        Public. The columns, and the number of cells of each numeric one; 0 for a category.
    target : str
        Public. The column of classes.
    heights : array of shape (outputs, 1 + cells)
        Public. What is added to the score of every record, and of those in each cell: released before.
    norm : {"l1", "l2"}
        Public. In which what a record adds is bounded.
    """
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    domain = Domain.of(schema, (*columns, target), (*bins, 0)).project(columns)
    outputs, d, size = outputs_of(ASKED, schema, target), len(columns), 1 + sum(domain.shape)
    check_size(ASKED, outputs * size, MOST_CELLS)
    if heights.shape != (outputs, size) or not np.abs(heights).max() <= STEEPEST:
        obstacle = f"the heights of {outputs} scores, in {size - 1} cells and everywhere, are {heights.shape}"
        raise ParameterError(ASKED, obstacle, f"Give one number for each, of {STEEPEST:g} at most.")
    known = FINE.values(FINE.cut(heights))
    most = float(outputs * (d + 1))
    bound = Bound(norm, most if norm == "l1" else math.sqrt(most) * (1 + 2.0**-50))

    def marks(records: Array) -> tuple[Codes, Array, Array]:
        """The cells of records that have a class, their signs and their weights in whole steps."""
        cells, kinds = cells_among(domain, records[:, :-1]), records[:, -1].astype(np.intp)
        own = kinds == np.arange(outputs)[:, None] if outputs > 1 else kinds[None, :] == 1
        signs = np.where(own, 1.0, -1.0)
        margins = signs * scores_among(known, cells)
        return cells, signs, np.rint(exponential(-np.maximum(margins, 0.0)) / FINE.step)

    def of(records: Array) -> Array:
        there, added = np.flatnonzero(~np.isnan(records[:, -1])), np.zeros((len(records), outputs, size + 1))
        cells, signs, weights = marks(records[there])
        for own in cells:
            added[there, :, own] = FINE.values(signs * weights).T
        added[there, :, 0] = FINE.values(weights).T
        return added[:, :, :-1].reshape(len(records), outputs * size)

    def total(records: Array) -> Array:
        added = np.zeros((outputs, size + 1))
        for start in range(0, len(records), SLICE):
            some = records[start : start + SLICE]
            cells, signs, weights = marks(some[~np.isnan(some[:, -1])])
            for own in cells:
                added += np.stack([np.bincount(own, one, size + 1) for one in signs * weights])
            added[:, 0] += weights.sum(axis=1)
        return added[:, :-1].ravel()

    return BoundedSum(of, bound, (*columns, target), FINE, total)


def cells_among(domain: Domain, records: Array) -> Codes:
    """The cell of each value among those of all columns, from 1 on, a row for each column; a missing one is beyond all.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Number
    >>> schema = Schema({"age": Number(0, 90), "sex": Category(("f", "m"))})
    >>> cells_among(Domain.of(schema, ("age", "sex"), {"age": 3}), np.array([[31.0, 0.0], [np.nan, 1.0]]))
    array([[2, 6],
           [4, 5]])
    """
    starts = np.cumsum((1, *domain.shape))
    cells = np.full(records.shape[::-1], starts[-1], dtype=np.intp)
    for name, start, own, values in zip(domain.columns, starts, cells, records.T, strict=False):
        there = ~np.isnan(values)
        own[there] = start + domain.project((name,)).codes(values[there][:, None])
    return cells


def scores_among(heights: Array, cells: Codes) -> Array:
    """The first height plus those of its cells, of each record: an array of shape (outputs, n)."""
    padded = np.pad(heights, ((0, 0), (0, 1)))
    scores = np.repeat(heights[:, :1], cells.shape[1], axis=1)
    for own in cells:
        scores += padded[:, own]
    return scores
