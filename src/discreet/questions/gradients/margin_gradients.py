"""Gradients of losses of margins: each class against the others."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.gradients.gradients import gradients_of
from discreet.questions.gradients.softmax_gradients import MOST_CLASSES
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
    schema : Schema
        Public. Between whose bounds the values lie; it has the classes.
    columns : tuple of str
        Public. The features: numeric columns.
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
