"""Sums of what a loss of margins depends on a record through: the derivative by each score, times features."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.gradients.gradients import (
    MOST_CLASSES,
    Residuals,
    check_weights,
    gradients_of,
    shrunk_pulls,
    weighted_pulls,
)
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import CELLS
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates
from discreet.schema.schema import Schema

Loss = Literal["huber_hinge", "perceptron"]


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
    features, residuals = MappedCoordinates.of(schema, columns, matrix), _margins(schema, target, coefficients, loss)
    pulls = shrunk_pulls(features, coefficients, residuals, residual)
    return gradients_of(pulls, len(matrix), len(coefficients), residual, (*schema.values(columns), target))


@recipe("weighted_margin_gradients")
def weighted_margin_gradients_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    matrix: Array,
    coefficients: Array,
    loss: Loss,
    residual: float,
    weights: Array,
) -> BoundedSum:
    """The sum of w s z r', where r are derivatives at the record as it is; s = min(1, 1 / |z|) shrinks what it adds.

    Parameters
    ----------
    target, matrix, coefficients, loss, residual
        Public. As in `margin_gradients`.
    weights : array of shape (K,)
        Public. The weight w of the records of each class, from 0 to 1.
    """
    features, residuals = MappedCoordinates.of(schema, columns, matrix), _margins(schema, target, coefficients, loss)
    check_weights(weights, len(schema.category(target).values))
    pulls = weighted_pulls(features, coefficients, residuals, residual, weights)
    return gradients_of(pulls, len(matrix), len(coefficients), residual, (*schema.values(columns), target))


def _margins(schema: Schema, target: str, coefficients: Array, loss: Loss) -> Residuals:
    """The derivative of the loss of the margin of each score."""
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

    return residuals
