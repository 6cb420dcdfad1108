"""One mark for each record, in its cell of a table: histograms of one column and contingency tables of several."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import Domain
from discreet.schema.schema import Schema

ONE_CELL = Bound("l1", 1.0, nonnegative=True)
COMPARED = 64  # cells between edges that comparing with each edge still finds faster than looking for each value
AT_HAND = 2**16  # values that are compared together, so that they stay in the cache


@recipe("contingency")
def contingency_of(schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...]) -> BoundedSum:
    """One mark in the cell of each record; a record with a missing value adds nothing.

    Parameters
    ----------
    schema : Schema
        Public.
    columns, bins : tuple
        Public. The columns, and the number of cells of each numeric one; 0 for a category.
    """
    return counts_in(Domain.listed(schema, columns, bins))


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
