"""Counts of the values of each column, class by class: what naive Bayes on categories is made from."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import MOST_CELLS, Domain
from discreet.schema.schema import Schema

ASKED = "values by class"


@recipe("class_marginals")
def class_marginals_of(
    schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...], target: str, norm: Norm
) -> BoundedSum:
    """One mark for each column, in its cell of the table of this column and the class: as many marks as columns.

    The tables follow one another, each with a row for every cell of its column and a column for every class. A missing
    value has no mark, nor has any value of a record without a class.

    Parameters
    ----------
    schema : Schema
        Public.
    columns, bins : tuple
        Public. The columns, and the number of cells of each numeric one; 0 for a category.
    target : str
        Public. The column of classes.
    norm : {"l1", "l2"}
        Public. In which a record's marks are bounded.
    """
    schema.category(schema.values((*columns, target))[-1])
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    if len(bins) != len(columns) or not columns:
        raise ParameterError(ASKED, f"there are {len(bins)} bins for {len(columns)} columns", "Give one for each.")
    tables = [Domain.listed(schema, (name, target), (one, 0)) for name, one in zip(columns, bins, strict=True)]
    check_size(ASKED, sum(table.size for table in tables), MOST_CELLS)
    d = len(columns)
    bound = Bound(norm, float(d) if norm == "l1" else math.sqrt(d) * (1 + 2.0**-50), nonnegative=True)

    def of(records: Array) -> Array:
        marks = [np.zeros((len(records), table.size)) for table in tables]
        for place, (table, own) in enumerate(zip(tables, marks, strict=True)):
            pair = records[:, [place, d]]
            own[np.flatnonzero(~np.isnan(pair).any(axis=1)), table.codes(pair)] = 1.0
        return np.hstack(marks)

    def total(records: Array) -> Array:
        counts = [
            np.bincount(table.codes(records[:, [place, d]]), minlength=table.size) for place, table in enumerate(tables)
        ]
        return np.concatenate(counts).astype(np.float64)

    return BoundedSum(of, bound, (*columns, target), Grid(0), total)
