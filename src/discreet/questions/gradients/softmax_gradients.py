"""Gradients of the logistic loss, for two classes or more."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.gradients.gradients import contrasts, gradients_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import CELLS
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates
from discreet.schema.schema import Schema

WHOLE = 2.0**30  # steps of a weight, so that the sum of the weights of all classes is exact
MOST_CLASSES = 2**12


@recipe("softmax_gradients")
def softmax_gradients_of(
    schema: Schema, columns: tuple[str, ...], target: str, matrix: Array, coefficients: Array, residual: float
) -> BoundedSum:
    """The sum of z (p - e)', in K - 1 contrasts of the classes: p are probabilities, e marks the record's class.

    A record with a missing value or class adds nothing.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie; it has the classes.
    columns : tuple of str
        Public. The features: numeric columns.
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
