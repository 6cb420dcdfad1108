"""Count, sums and sums of squares of several columns from one bounded sum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import Coordinates
from discreet.schema.schema import Schema

STEP = Grid(-28)  # on which squares of coordinates are whole


@recipe("column_moments")
def column_moments_of(schema: Schema, columns: tuple[str, ...]) -> BoundedSum:
    """Each record adds (sqrt(n) / 2, x, 2 x^2 - 1), where its n values x are scaled to [-1, 1].

    The Chebyshev polynomial 2 x^2 - 1 has half the range of 2 x^2. A record with a missing value adds nothing.
    """
    n = len(columns)
    coordinates = Coordinates.of(schema, columns, math.sqrt(n))
    constant = float(STEP.values(STEP.cut(np.array(count_weight(n)))))
    end = math.ldexp(1.0, -coordinates.grid.exponent)

    def of(records: Array) -> Array:
        found = coordinates.scaled.of(records)
        x = found.steps / end
        rows = np.column_stack([np.full(len(x), constant), x, 2 * x * x - 1])
        return np.where(found.present[:, None], rows, 0.0)

    def total(records: Array) -> Steps:
        """Steps of a slice, and their squares, add up to less than 2**47: exact in float64; int64 carries the total."""
        sums = np.zeros(1 + 2 * n, dtype=np.int64)
        for some in coordinates.scaled.slices(records):
            there, x = np.count_nonzero(some.present), some.steps
            squares = np.einsum("ij,ij->j", x, x)
            added = [[there * constant], x.sum(axis=0) / end, 2 * squares / end**2 - there]
            sums += STEP.cut(np.concatenate(added)).astype(np.int64)
        return sums

    bound = Bound("l2", math.sqrt(2.25 * n) * (1 + 2.0**-20))
    return BoundedSum(of, bound, columns, STEP, total, raw=True)


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
