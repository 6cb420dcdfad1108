"""One mark for each record, in its cell of a table: histograms of one column and contingency tables of several."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema
from discreet.questions.domain import Domain

ONE_CELL = Bound("l1", 1.0, nonnegative=True)
COMPARED = 64  # cells between edges that comparing with each edge still finds faster than looking for each value


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

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), domain.size))
        marks[~np.isnan(records).any(axis=1), :] = domain.codes(records)[:, None] == np.arange(domain.size)
        return marks

    def total(records: Array) -> Array:
        edges = domain.edges[0]
        if edges is not None and len(domain.axes) == 1 and domain.size <= COMPARED:
            return _compared(records[:, 0], edges)
        return np.bincount(domain.codes(records), minlength=domain.size).astype(np.float64)

    cell = domain.formula()
    tally = None if cell is None else Tally(cell, domain.size, (Formula.constant(1),))
    return BoundedSum(of, ONE_CELL, domain.columns, Grid(0), total, tally=tally)


def _compared(values: Array, edges: Array) -> Array:
    """The number of values in each cell: those at or above its lower edge, less those at or above its upper edge.

    With few edges this is faster than looking for the cell of each value. The outer cells have no outer ends.
    """
    above = [np.count_nonzero(values >= edge) for edge in (-np.inf, *edges[1:-1])]
    return -np.diff(np.array([*above, 0], dtype=np.float64))
