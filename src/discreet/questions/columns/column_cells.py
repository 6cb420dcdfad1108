"""How many records are in each cell of each column: all histograms at once."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_positive, check_size
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.contingency import counts_in
from discreet.questions.tables.domain import MOST_CELLS, Codes, Domain
from discreet.schema.schema import Number, Schema

ASKED = "cells of columns"
SMALLEST = 1000  # octaves between the greatest size and the least that differs from zero, at most


@recipe("column_cells")
def column_cells_of(schema: Schema, columns: tuple[str, ...], bins: int, norm: Norm) -> BoundedSum:
    """One mark for each column, in the cell of its value; a record with a missing value adds nothing.

    Parameters
    ----------
    bins : int
        Public. The number of cells of each, of equal width.
    norm : {"l1", "l2"}
        Public. In which a record's marks are bounded.
    """
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    edges, d = edges_of(schema, columns, bins), len(columns)
    size = d * bins
    check_size(ASKED, size, MOST_CELLS)
    bound = Bound(norm, float(d) if norm == "l1" else math.sqrt(d) * (1 + 2.0**-50), nonnegative=True)

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), size))
        there = np.flatnonzero(~np.isnan(records).any(axis=1))
        marks[there[:, None], cells_of(edges, records[there]).T] = 1.0
        return marks

    def total(records: Array) -> Array:
        found = cells_of(edges, records[~np.isnan(records).any(axis=1)])
        return np.bincount(found.ravel(), minlength=size).astype(np.float64)

    return BoundedSum(of, bound, columns, Grid(0), total)


def edges_of(schema: Schema, columns: tuple[str, ...], bins: int) -> Array:
    """The edges of the cells of numeric columns, a row for each."""
    for name in columns:
        schema.number(name)
    return np.array(Domain.of(schema, columns, bins).edges, dtype=np.float64)


def cells_of(edges: Array, whole: Array) -> Codes:
    """The cell of each value, a row for each column; those of all columns are counted on. No value is missing.

    A value within a rounding of an edge may be in either cell.
    """
    (d, ends), lower = edges.shape, edges[:, 0]
    with np.errstate(over="ignore"):
        places = np.clip((whole - lower) * ((ends - 1) / (edges[:, -1] - lower)), 0, ends - 2).astype(np.intp)
    return np.ascontiguousarray((places + (ends - 1) * np.arange(d)).T)


def magnitude_edges(number: Number, least: float) -> Array:
    """The bounds, and between them every power of two times the least size, on both sides of zero."""
    largest = max(abs(number.lower), abs(number.upper))
    check_positive("magnitudes", "least", least, largest * 2.0**-SMALLEST, largest)
    sizes = least * 2.0 ** np.arange(math.floor(math.log2(largest / least)) + 1)
    inner = np.concatenate([-sizes[::-1], sizes])
    return np.concatenate([[number.lower], inner[(inner > number.lower) & (inner < number.upper)], [number.upper]])


@recipe("magnitudes")
def magnitudes_of(schema: Schema, column: str, least: float) -> BoundedSum:
    """One mark for each value, in the cell of its sign and size."""
    return counts_in(Domain((column,), (magnitude_edges(schema.number(column), least),)))
