"""Sums of gradients of the losses of a number by one linear score, for means by their logarithms and for quantiles."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from discreet.core.checks import check_one_of, check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.gradients.anova_scores import RESIDUALS, number_residuals
from discreet.questions.gradients.gradients import Residuals, gradients_of, weighted_pulls
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import CELLS
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates
from discreet.schema.schema import Schema

ASKED = "gradients of numbers"
NumberLoss = Literal["squared", "poisson", "gamma", "quantile"]


@recipe("number_gradients")
def number_gradients_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    matrix: Array,
    coefficients: Array,
    loss: NumberLoss,
    center: float,
    unit: float,
    quantile: float,
    residual: float,
) -> BoundedSum:
    """The sum of s z r, where r is the derivative of the loss by the score of the record as it is.

    Of a target y, with t = (y - center) / unit and a score f, r is f - t for "squared", exp(f) - t for "poisson",
    1 - t exp(-f) for "gamma", and [t < f] - quantile for "quantile". A long record is shrunk by s = min(1, 1 / |z|) in
    what it adds alone. One with a missing value or target adds nothing.

    Parameters
    ----------
    target : str
        Public. A number.
    matrix : array of shape (k, 1 + n)
        Public. What makes z of a record: see `MappedCoordinates`.
    coefficients : array of shape (1, k)
        Public. Of the score, on the same grid.
    loss : {"squared", "poisson", "gamma", "quantile"}
        Public. The loss.
    center, unit, quantile : float
        Public. What the target is measured from and in, and the level of the quantile, for that loss.
    residual : float
        Public. The size that r is shrunk to.
    """
    schema.number(target)
    check_one_of(ASKED, "loss", loss, ("squared", "poisson", "gamma", "quantile"))
    check_positive(ASKED, "unit", unit, 2.0**-900, 2.0**900)
    check_positive(ASKED, "quantile", quantile, 2.0**-10, 1 - 2.0**-10)
    if len(coefficients) != 1 or not math.isfinite(center):
        obstacle = f"there are coefficients of {len(coefficients)} scores, and the center is {center}"
        raise ParameterError(ASKED, obstacle, "Give those of one score, and a finite center.")
    features, residuals = MappedCoordinates.of(schema, columns, matrix), _negated(loss, center, unit, quantile)
    pulls = weighted_pulls(features, coefficients, residuals, residual)
    return gradients_of(pulls, len(matrix), 1, residual, (*schema.values(columns), target))


def _negated(loss: NumberLoss, center: float, unit: float, quantile: float) -> Residuals:
    """Derivatives of the loss, in the steps that features have."""
    away, step = number_residuals(loss, center, unit, quantile), math.ldexp(RESIDUALS.step, CELLS)

    def residuals(scores: Array, targets: Array) -> Array:
        found = -away(scores, targets) * step
        return np.where(np.isnan(targets), 0.0, np.rint(found))

    return residuals
