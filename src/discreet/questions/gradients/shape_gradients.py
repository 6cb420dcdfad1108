"""How far an additive model is off, in each cell of one column: what its next step is computed from."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_positive, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.columns.column_cells import cells_of, edges_of
from discreet.questions.gradients.gradients import MOST_CLASSES, exponential
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import MOST_CELLS, Codes, Domain
from discreet.questions.vectors.coordinates import shrink
from discreet.schema.schema import Category, Schema

ASKED = "gradients of shapes"
FINE = Grid(-20)  # of shapes and of residuals: sums of either are exact
STEEPEST = 2.0**10  # of a shape
SLICE = 2**14  # records at a time
Loss = Literal["logistic", "squared"]
Residuals = Callable[[Array, Array], Array]  # of scores of shape (outputs, n) and n targets, in whole steps
WEIGHTS = "boosting weights"


@recipe("shape_gradients")
def shape_gradients_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    bins: int,
    shapes: Array,
    place: int,
    loss: Loss,
    residual: float,
    norm: Norm,
) -> BoundedSum:
    """The sum of residuals in each cell of one column, as an array of shape (outputs, bins), or of all residuals.

    A score of a record is the sum of what the shapes are in its cells. Its residual is the target less the score, or
    the mark of its class less the probability. A record with a missing value or class adds nothing.

    Parameters
    ----------
    target : str
        Public. A category for the logistic loss, a number for the squared one, which is scaled from its bounds to
        [-1, 1].
    bins : int
        Public. The number of cells of each column.
    shapes : array of shape (outputs, len(columns) * bins)
        Public. What each cell adds to each score: that of the second of two classes, of every class, or of the number.
    place : int
        Public. The column whose cells residuals are added up in; the number of columns for the sum of all.
    loss : {"logistic", "squared"}
        Public. The loss.
    residual : float
        Public. The length that residuals are shrunk to.
    norm : {"l1", "l2"}
        Public. In which what a record adds is bounded.
    """
    edges, column = edges_of(schema, columns, bins), schema.columns.get(target)
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    check_one_of(ASKED, "loss", loss, ("logistic",) if isinstance(column, Category) else ("squared",))
    check_whole(ASKED, "place", place, 0, len(columns))
    check_positive(ASKED, "residual", residual, 2.0**-6, 2.0)
    outputs = outputs_of(ASKED, schema, target)
    check_size(ASKED, shapes.size, MOST_CELLS)
    if shapes.shape != (outputs, edges.shape[0] * bins) or not np.abs(shapes).max() <= STEEPEST:
        obstacle = f"the shapes of {outputs} scores of {len(columns)} columns of {bins} cells are {shapes.shape}"
        raise ParameterError(ASKED, obstacle, f"Give one number for each, of {STEEPEST:g} at most.")
    heights, apart = FINE.values(FINE.cut(shapes)), 1 if place == len(columns) else bins
    longest = math.floor((residual / FINE.step) ** 2)
    rounded = residual * (math.sqrt(outputs) if norm == "l1" else 1.0) * (1 + 2.0**-20)
    residuals = _marked(outputs) if loss == "logistic" else _scaled(schema, target)

    def pulls(whole: Array) -> tuple[Array, Array]:
        """The cell in the column that is asked about, and the residuals in whole steps, of whole records."""
        cells = cells_of(edges, whole[:, :-1])
        scores = np.zeros((outputs, len(whole)))
        for own in cells:
            scores += heights[:, own]
        away = residuals(scores, whole[:, -1])
        shrink(away, longest)
        return cells[place] - place * bins if apart > 1 else np.zeros_like(cells[0]), away

    def of(records: Array) -> Array:
        there, added = np.flatnonzero(~np.isnan(records).any(axis=1)), np.zeros((len(records), outputs, apart))
        cells, away = pulls(records[there])
        added[there[:, None], np.arange(outputs), cells[:, None]] = FINE.values(away.T)
        return added.reshape(len(records), outputs * apart)

    def total(records: Array) -> Array:
        added = np.zeros((outputs, apart))
        for start in range(0, len(records), SLICE):
            some = records[start : start + SLICE]
            cells, away = pulls(some[~np.isnan(some).any(axis=1)])
            added += np.stack([np.bincount(cells, own, apart) for own in away])
        return added.ravel()

    return BoundedSum(of, Bound(norm, rounded), (*columns, target), FINE, total)


def outputs_of(asked: str, schema: Schema, target: str) -> int:
    """One score for a number or two classes, else one for each class."""
    if not isinstance(schema.columns.get(target), Category):
        return 1
    classes = len(schema.category(target).values)
    if not 2 <= classes <= MOST_CLASSES:
        raise ParameterError(asked, f"there are {classes} classes", f"Name 2 to {MOST_CLASSES}.")
    return 1 if classes == 2 else classes


def _marked(outputs: int) -> Residuals:
    """The mark of the class less its probability, by scores, in whole steps."""

    def residuals(scores: Array, targets: Array) -> Array:
        both = np.concatenate([np.zeros_like(scores), scores]) if outputs == 1 else scores
        weights = exponential(both - both.max(axis=0))
        away = -np.rint(weights / weights.sum(axis=0) / FINE.step)
        away[targets.astype(np.intp), np.arange(len(targets))] += 1 / FINE.step
        return away[-outputs:]

    return residuals


def _scaled(schema: Schema, target: str) -> Residuals:
    """The scaled target less its score, in whole steps."""
    number = schema.number(target)
    middle, half = 0.5 * number.lower + 0.5 * number.upper, 0.5 * number.upper - 0.5 * number.lower

    def residuals(scores: Array, targets: Array) -> Array:
        scaled = np.clip((targets - middle) / half, -1.0, 1.0)
        return np.rint((scaled - scores) / FINE.step)

    return residuals


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
    columns, bins : tuple
        Public. The columns, and the number of cells of each numeric one; 0 for a category.
    heights : array of shape (outputs, 1 + cells)
        Public. What is added to the score of every record, and of those in each cell: released before.
    norm : {"l1", "l2"}
        Public. In which what a record adds is bounded.
    """
    check_one_of(WEIGHTS, "norm", norm, ("l1", "l2"))
    domain = Domain.of(schema, (*columns, target), (*bins, 0)).project(columns)
    outputs, d, size = outputs_of(WEIGHTS, schema, target), len(columns), 1 + sum(domain.shape)
    check_size(WEIGHTS, outputs * size, MOST_CELLS)
    if heights.shape != (outputs, size) or not np.abs(heights).max() <= STEEPEST:
        obstacle = f"the heights of {outputs} scores, in {size - 1} cells and everywhere, are {heights.shape}"
        raise ParameterError(WEIGHTS, obstacle, f"Give one number for each, of {STEEPEST:g} at most.")
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
