"""Count, sums and sums of squares of several columns from one bounded sum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema
from discreet.questions.coordinates import Coordinates
from discreet.questions.slices import by_slices

STEP = Grid(-28)  # on which squares of coordinates are whole


@recipe("column_moments")
def column_moments_of(schema: Schema, columns: tuple[str, ...]) -> BoundedSum:
    """Each record adds (sqrt(n) / 2, x, 2 x^2 - 1), where its n values x are scaled to [-1, 1].

    The Chebyshev polynomial 2 x^2 - 1 has half the range of 2 x^2. A record with a missing value adds nothing.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns.
    """
    n = len(columns)
    coordinates = Coordinates.of(schema, columns, math.sqrt(n))
    constant = float(STEP.values(STEP.cut(np.array(count_weight(n)))))
    end = math.ldexp(1.0, -coordinates.grid.exponent)

    def scaled(records: Array) -> Array:
        """Values in whole steps, from their lower to their upper bound; nan in all columns where one is missing."""
        inner = coordinates.steps(records, np.empty((1 + n, len(records))))
        inside = np.clip(inner[1:], -end, end, out=inner[1:])
        inside[:, inner[0] == 0] = np.nan
        return inside

    def of(records: Array) -> Array:
        x = scaled(records) / end
        rows = np.vstack([np.full((1, len(records)), constant), x, 2 * x * x - 1])
        return np.where(np.isnan(x[0]), 0.0, rows).T

    def total(records: Array) -> Array:
        x = scaled(records)
        there = np.count_nonzero(~np.isnan(x[0]))
        np.nan_to_num(x, copy=False)
        squares = np.einsum("ij,ij->i", x, x)
        return STEP.cut(np.concatenate([[there * constant], x.sum(axis=1) / end, 2 * squares / end**2 - there]))

    bound = Bound("l2", math.sqrt(2.25 * n) * (1 + 2.0**-20))
    return BoundedSum(of, bound, columns, STEP, by_slices(total, n, 1 + 2 * n))


def count_weight(columns: int) -> float:
    """What a record adds to the first coordinate."""
    return 0.5 * math.sqrt(columns)


@dataclass(frozen=True)
class ColumnMoments:
    """What a release of `column_moments` says about columns that are scaled to [-1, 1]: post-processing.

    Parameters
    ----------
    count : float
        The number of records, at least 1.
    means, squares : arrays of shape (n,)
        Means of the values and of their squares.
    error : float
        The standard deviation of the noise on each mean.
    """

    count: float
    means: Array
    squares: Array
    error: float

    @classmethod
    def of(cls, released: Array, stddev: float) -> ColumnMoments:
        """From the release, with noise of this standard deviation."""
        n = len(released) // 2
        count = max(float(released[0]) / count_weight(n), 1.0)
        means = np.clip(released[1 : n + 1] / count, -1.0, 1.0)
        return cls(count, means, np.clip((released[n + 1 :] / count + 1) / 2, 0.0, 1.0), stddev / count)
