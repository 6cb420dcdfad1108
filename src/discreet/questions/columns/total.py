"""The sum of a column."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Schema


@recipe("total")
def total_of(schema: Schema, column: str, origin: float) -> BoundedSum:
    """The sum of the values, measured from an origin; a missing value adds nothing."""
    number = schema.number(column)
    radius = max(abs(number.lower - origin), abs(number.upper - origin))
    bound = Bound("linf", radius, nonnegative=origin <= number.lower)
    grid = Grid.of_radius(radius)

    def of(records: Array) -> Array:
        return np.nan_to_num(np.clip(records[:, :1], number.lower, number.upper) - origin)

    return BoundedSum(of, bound, (column,), grid, lambda records: grid.cut(of(records)).sum(axis=0))
