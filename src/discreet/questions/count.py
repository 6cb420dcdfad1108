"""One for each record that has a value."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema


@recipe("count")
def count_of(schema: Schema, column: str) -> BoundedSum:
    """One for each record whose value is not missing."""
    columns = schema.values((column,))

    def of(records: Array) -> Array:
        return (~np.isnan(records[:, :1])).astype(np.float64)

    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), columns, Grid(0), lambda records: of(records).sum(axis=0))
