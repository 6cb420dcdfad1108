"""One for each record, or for each that has a value."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Schema


@recipe("count")
def count_of(schema: Schema, column: str | None) -> BoundedSum:
    """One for each record whose value is not missing; without a column, for each record."""
    columns = () if column is None else schema.values((column,))
    cell = Formula.constant(0) if column is None else Formula.constant(0).where(Formula.column(0))

    def of(records: Array) -> Array:
        return np.asarray(~np.isnan(records).any(axis=1, keepdims=True), dtype=np.float64)

    def total(records: Array) -> Array:
        return np.asarray(of(records).sum(axis=0))

    tally = Tally(cell, 1, (Formula.constant(1),))
    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), columns, Grid(0), total, tally=tally)
