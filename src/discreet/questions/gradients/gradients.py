"""Sums of gradients of a loss that depends on a record through linear scores: residual times features."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import CELLS, shrink
from discreet.questions.vectors.mapped_coordinates import MAPS, MappedCoordinates, check_map
from discreet.schema.schema import Schema

SLICE = 2**17  # coordinates at a time, which stay in the cache
SCORES = 2.0 ** (MAPS.exponent - CELLS)  # a step of a score
GRADIENTS = Grid(-2 * CELLS)
Residuals = Callable[[Array, Array], Array]
"""Scores of shape (m, n) and the n targets in; residuals of shape (j, n) out, in whole steps of 2**-15.

Each column depends on its own alone, to the last bit; a target that is missing has residuals of zero.
"""
WHOLE = 2.0**30  # steps of a weight, so that the sum of the weights of all classes is exact
MOST_CLASSES = 2**12
Loss = Literal["huber_hinge", "perceptron"]


def gradients_of(
    features: MappedCoordinates, columns: tuple[str, ...], coefficients: Array, residuals: Residuals, longest: float
) -> BoundedSum:
    """The sum of z r', row by row, where z are features of length 1 at most and r residuals.

    Residuals are shrunk to the length `longest`, and so is the sum of one record. Features, coefficients and residuals
    are whole steps: scores and sums are exact, in whatever order they are added. Beyond 2**22 records in a batch they
    may not be.

    Parameters
    ----------
    features : MappedCoordinates
        Public. Of all columns but the last.
    columns : tuple of str
        Public. Those of the features, and then the target.
    coefficients : array of shape (m, k)
        Public. Of the m scores of a record, on the grid `MAPS`.
    residuals : callable
        What a record pulls with: see `Residuals`.
    longest : float
        Public. The length that residuals are shrunk to.
    """
    size = features.size - 1
    check_map("gradients", "coefficients", coefficients, size)
    check_positive("gradients", "residual", longest, 2.0**-6, 2.0**6)
    inner = np.concatenate([np.zeros((len(coefficients), 1)), MAPS.cut(coefficients)], axis=1)
    squared = math.floor(math.ldexp(longest * longest, 2 * CELLS))

    def pulls(records: Array) -> tuple[Array, Array]:
        """Features and residuals of each record, in columns of whole steps."""
        z = features.steps(records[:, :-1], np.empty((features.size, len(records))))
        r = residuals(np.matmul(inner, z) * SCORES, records[:, -1])
        shrink(r, squared)
        return z[1:], r

    def of(records: Array) -> Array:
        z, r = pulls(records)
        return GRADIENTS.values((z.T[:, :, None] * r.T[:, None, :]).reshape(len(records), size * len(r)))

    def total(records: Array) -> Array:
        rows = max(SLICE // size, 1)
        parts = [pulls(records[start : start + rows]) for start in range(0, max(len(records), 1), rows)]
        return np.asarray(np.sum([z @ r.T for z, r in parts], axis=0).ravel())

    return BoundedSum(of, Bound("l2", longest * (1 + 2.0**-30)), columns, GRADIENTS, total)


def contrasts(classes: int) -> Array:
    """Rows of length 1 that are orthogonal to one another and to (1, ..., 1): Helmert's, on the grid of steps.

    Residuals of classes add up to 0, so these K - 1 numbers say all that K would.
    """
    rows = np.tril(np.ones((classes - 1, classes)))
    rows[np.arange(classes - 1), np.arange(1, classes)] = -np.arange(1.0, classes)
    lengths = np.sqrt(np.arange(1.0, classes) * np.arange(2.0, classes + 1))
    return np.ldexp(np.trunc(np.ldexp(rows / lengths[:, None], CELLS)), -CELLS)


@recipe("softmax_gradients")
def softmax_gradients_of(
    schema: Schema, columns: tuple[str, ...], target: str, matrix: Array, coefficients: Array, residual: float
) -> BoundedSum:
    """The sum of z (p - e)', in K - 1 contrasts of the classes: p are probabilities, e marks the record's class.

    A record with a missing value or class adds nothing.

    Parameters
    ----------
    target : str
        Public. The column of classes, at least two.
    matrix : array of shape (k, 1 + n)
        Public. What makes z of a record: see `MappedCoordinates`.
    coefficients : array of shape (K, k)
        Public. Of the score of each class, on the same grid.
    residual : float
        Public. The length that p - e is shrunk to. None is longer than sqrt(2); where all coefficients are 0, all are
        sqrt(1 - 1 / K) long.
    """
    classes = len(schema.category(target).values)
    if not 2 <= classes <= MOST_CLASSES or len(coefficients) != classes:
        obstacle = f"there are {classes} classes and coefficients of {len(coefficients)}"
        raise ParameterError("gradients", obstacle, f"Give coefficients for each of 2 to {MOST_CLASSES} classes.")
    basis, whole = contrasts(classes), math.ldexp(1.0, CELLS)

    def residuals(scores: Array, targets: Array) -> Array:
        weights = np.rint(WHOLE * exponential(scores - scores.max(axis=0)))
        away = np.rint(weights * (whole / weights.sum(axis=0)))
        away[np.where(np.isnan(targets), 0, targets).astype(np.intp), np.arange(len(targets))] -= whole
        return np.where(np.isnan(targets), 0.0, np.rint(basis @ away))

    features = MappedCoordinates.of(schema, columns, matrix)
    return gradients_of(features, (*schema.values(columns), target), coefficients, residuals, residual)


def exponential(values: Array) -> Array:
    """The exponential of numbers that are not positive, to seven digits, and to the same last bit on every machine.

    2^(k + f) with |f| <= 1/2: a polynomial of f, of additions and products alone.
    """
    powers = np.maximum(values, -40.0) * (1 / math.log(2))
    nearest = np.rint(powers)
    rest = (powers - nearest) * math.log(2)
    series = np.ones_like(rest)
    for k in range(7, 0, -1):
        series = 1 + series * rest / k
    return np.ldexp(series, nearest.astype(np.int64))


@recipe("margin_gradients")
def margin_gradients_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    matrix: Array,
    coefficients: Array,
    loss: Loss,
    residual: float,
) -> BoundedSum:
    """The sum of z r', where r_k is the derivative of the loss of the margin of score k.

    The margin is the score of a class for its records, and less it for others. The derivative of the Huber hinge loss
    rises from -1 at margin 0 to 0 at margin 2; that of the perceptron is -1 up to margin 0. A record with a missing
    value or class adds nothing.

    Parameters
    ----------
    target : str
        Public. The column of classes, at least two.
    matrix : array of shape (k, 1 + n)
        Public. What makes z of a record: see `MappedCoordinates`.
    coefficients : array of shape (1, k) or (n_classes, k)
        Public. Of the score of the second of two classes, or of every class, on the same grid.
    loss : {"huber_hinge", "perceptron"}
        Public. The loss.
    residual : float
        Public. The length that r is shrunk to. None is longer than the square root of the number of scores.
    """
    classes = len(schema.category(target).values)
    scores = 1 if classes == 2 else classes
    if not 2 <= classes <= MOST_CLASSES or len(coefficients) != scores:
        obstacle = f"there are {classes} classes and coefficients of {len(coefficients)} scores"
        raise ParameterError("gradients", obstacle, f"Give one for 2 classes, or one for each of 3 to {MOST_CLASSES}.")
    own, whole = np.arange(classes - scores, classes)[:, None], math.ldexp(1.0, CELLS)

    def residuals(found: Array, targets: Array) -> Array:
        signs = np.where(targets == own, 1.0, -1.0)
        margins = signs * found
        pull = np.clip(1 - margins / 2, 0.0, 1.0) if loss == "huber_hinge" else (margins <= 0).astype(np.float64)
        return np.where(np.isnan(targets), 0.0, -signs * np.rint(pull * whole))

    features = MappedCoordinates.of(schema, columns, matrix)
    return gradients_of(features, (*schema.values(columns), target), coefficients, residuals, residual)
