"""One mark for each record, in its cell of a table."""

from __future__ import annotations

import numpy as np

from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema
from discreet.questions.domain import Axes
from discreet.questions.histogram import ONE_CELL


@recipe("contingency")
def contingency_of(schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...]) -> BoundedSum:
    """One mark in the cell of each record; a record with a missing value adds nothing."""
    axes = Axes.listed(schema, columns, bins)

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), axes.size))
        whole = np.flatnonzero(~np.isnan(records).any(axis=1))
        marks[whole, axes.codes(records)] = 1.0
        return marks

    def total(records: Array) -> Array:
        return np.bincount(axes.codes(records), minlength=axes.size).astype(np.float64)

    cell = axes.formula()
    tally = None if cell is None else Tally(cell, axes.size, (Formula.constant(1),))
    return BoundedSum(of, ONE_CELL, columns, Grid(0), total, tally=tally)
