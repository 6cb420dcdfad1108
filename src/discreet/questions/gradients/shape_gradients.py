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
from discreet.questions.tables.domain import MOST_CELLS
from discreet.questions.vectors.coordinates import shrink
from discreet.schema.schema import Category, Schema

ASKED = "gradients of shapes"
FINE = Grid(-20)  # of shapes and of residuals: sums of either are exact
STEEPEST = 2.0**10  # of a shape
SLICE = 2**14  # records at a time
Loss = Literal["logistic", "squared"]
Residuals = Callable[[Array, Array], Array]  # of scores of shape (outputs, n) and n targets, in whole steps


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
    schema : Schema
        Public. Between whose bounds the values lie; it has the classes.
    columns : tuple of str
        Public. Numeric columns.
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
