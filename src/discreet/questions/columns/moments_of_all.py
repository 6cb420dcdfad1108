"""Moments of a column, and how many records have no value in it: so the number of all records is read off, too."""

from __future__ import annotations

import dataclasses

import numpy as np

from discreet.core.formula import Formula
from discreet.core.grid import Array, Steps
from discreet.questions.columns.moments import moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Schema


@recipe("moments_of_all")
def moments_of_all_of(schema: Schema, column: str, degree: int) -> BoundedSum:
    """The sum of the Bernstein polynomials of a column; where its value is missing, one on a coordinate of its own.

    So each record adds a mass of one in all, and all coordinates together count the records.

    Parameters
    ----------
    column : str
        Public. A numeric column.
    degree : {1, 2, 4}
        Public. As in `moments_of`.
    """
    known = moments_of(schema, column, degree, False)
    assert known.total is not None
    assert known.tally is not None
    added, whole = known.total, known.grid.cut(np.ones(1)).astype(np.int64)

    def of(records: Array) -> Array:
        missing = ~np.isfinite(records[:, :1])
        return np.hstack([known.of(records), missing.astype(np.float64)])

    def total(records: Array) -> Steps:
        missing = len(records) - np.count_nonzero(np.isfinite(records[:, 0]))
        return np.concatenate([added(records), missing * whole])

    absent = Formula.constant(1.0).when(f"{Formula.column(0).sql} IS NULL")
    tally = dataclasses.replace(known.tally, values=(*known.tally.values, absent))
    return BoundedSum(of, known.bound, (column,), known.grid, total, raw=True, tally=tally)
