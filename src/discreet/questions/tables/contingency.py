"""One mark for each record, in its cell of a table: histograms of one column and contingency tables of several."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size
from discreet.core.errors import ParameterError
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.cells import ascending
from discreet.questions.tables.domain import MOST_CELLS, Domain
from discreet.schema.schema import Schema

ONE_CELL = Bound("l1", 1.0, nonnegative=True)
COMPARED = 64  # cells between edges that comparing with each edge still finds faster than looking for each value
AT_HAND = 2**16  # values that are compared together, so that they stay in the cache
ASKED = "values by class"


@recipe("contingency")
def contingency_of(schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...]) -> BoundedSum:
    """One mark in the cell of each record; a record with a missing value adds nothing.

    Parameters
    ----------
    columns, bins : tuple
        Public. The columns, and the number of cells of each numeric one; 0 for a category.
    """
    return counts_in(Domain.listed(schema, columns, bins))


@recipe("contingency_between")
def contingency_between_of(schema: Schema, category: str, number: str, edges: tuple[float, ...]) -> BoundedSum:
    """One mark in the cell of each record; a record with a missing value adds nothing.

    Parameters
    ----------
    category, number : str
        Public. The columns of a table with a row for each value of the first, and a column for each cell of the second.
    edges : tuple of float
        Public. Of these cells, ascending; the outer ones have no outer ends.
    """
    values, cells = schema.category(category).values, ascending(number, edges)
    schema.number(number)
    check_size(f"table of {category}, {number}", len(values) * (len(edges) - 1), MOST_CELLS)
    return counts_in(Domain((category, number), (values, cells)))


def counts_in(domain: Domain) -> BoundedSum:
    """The bounded sum that counts the records in each cell of a domain."""
    edges = domain.edges[0] if len(domain.axes) == 1 and domain.size <= COMPARED else None

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), domain.size))
        if edges is not None:
            records = np.where(np.isfinite(records), records, np.nan)
        marks[~np.isnan(records).any(axis=1), :] = domain.codes(records)[:, None] == np.arange(domain.size)
        return marks

    def total(records: Array) -> Array:
        if edges is not None:
            slices = [records[start : start + AT_HAND, 0] for start in range(0, len(records), AT_HAND)]
            return sum((_compared(values, edges) for values in slices), np.zeros(domain.size))
        return np.bincount(domain.codes(records), minlength=domain.size).astype(np.float64)

    cell = domain.formula()
    tally = None if cell is None else Tally(cell, domain.size, (Formula.constant(1),))
    return BoundedSum(of, ONE_CELL, domain.columns, Grid(0), total, raw=edges is not None, tally=tally)


def _compared(values: Array, edges: Array) -> Array:
    """The number of values in each cell: those at or above its lower edge, less those at or above its upper edge.

    With few edges this is faster than looking for the cell of each value. The outer cells have no outer ends, but what
    is not finite is in none: infinity, which is above all edges, is taken back.
    """
    infinite = np.count_nonzero(values == np.inf)
    above = [np.count_nonzero(values >= edge) - infinite for edge in edges[1:-1]]
    return -np.diff(np.array([np.count_nonzero(np.isfinite(values)), *above, 0], dtype=np.float64))


@recipe("class_marginals")
def class_marginals_of(
    schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...], target: str, norm: Norm
) -> BoundedSum:
    """One mark for each column, in its cell of the table of this column and the class: as many marks as columns.

    The tables follow one another, each with a row for every cell of its column and a column for every class. A missing
    value has no mark, nor has any value of a record without a class.

    Parameters
    ----------
    columns, bins : tuple
        Public. The columns, and the number of cells of each numeric one; 0 for a category.
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
