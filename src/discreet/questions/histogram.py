"""One mark for each value, in its cell of a histogram."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.bound import Bound
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.core.knob import check_whole
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Number, Schema

if TYPE_CHECKING:
    pass

MOST_BINS = 2**20

ONE_CELL = Bound("l1", 1.0, nonnegative=True)

SPELT_OUT = 32  # cells between edges that an engine still finds faster than numpy

COMPARED = 64  # cells between edges that comparing with each edge still finds faster than looking for each value


@recipe("histogram")
def histogram_of(schema: Schema, column: str, bins: int) -> BoundedSum:
    """One mark in the cell of each value: between two edges, or at the place of its category."""
    edges = edges_of(schema, column, bins)
    cells = len(schema.category(column).values) if edges is None else len(edges) - 1

    def cell(records: Array) -> Array:
        values = records[:, 0]
        if edges is None:
            return values
        places = np.searchsorted(edges[1:-1], values, side="right").astype(np.float64)
        return np.where(np.isnan(values), np.nan, places)

    def of(records: Array) -> Array:
        return (cell(records)[:, None] == np.arange(cells)).astype(np.float64)

    def total(records: Array) -> Array:
        if edges is not None and cells <= COMPARED:
            return _compared(records[:, 0], edges)
        places = cell(records)
        marks = np.bincount(places[~np.isnan(places)].astype(np.intp), minlength=cells)
        return marks.astype(np.float64)

    place = None
    if edges is None:
        place = Formula.category(0)
    elif cells <= SPELT_OUT:
        place = Formula.column(0).place_among(edges[1:-1])
    tally = None if place is None else Tally(place, cells, (Formula.constant(1),))
    return BoundedSum(of, ONE_CELL, (column,), Grid(0), total, tally=tally)


def _compared(values: Array, edges: Array) -> Array:
    """How many values lie in each cell: as many as are at or above its lower edge, less those above the upper one.

    With few edges this is faster than looking for the cell of each value. The outer cells have no outer ends.
    """
    above = [np.count_nonzero(values >= edge) for edge in (-np.inf, *edges[1:-1])]
    return -np.diff(np.array([*above, 0], dtype=np.float64))


def cells_of(schema: Schema, column: str, bins: int) -> tuple[tuple[str, ...], Array | None]:
    """The labels of a column's cells and, for a number, their edges: from the schema alone."""
    edges = edges_of(schema, column, bins)
    if edges is None:
        return schema.category(column).values, None
    return tuple(f"[{a:.4g}, {b:.4g})" for a, b in pairwise(edges)), edges


def edges_of(schema: Schema, column: str, bins: int) -> Array | None:
    """The edges of a number's cells; None for a column with public categories."""
    kind = schema.columns.get(column)
    if not isinstance(kind, Number):
        schema.category(column)
        return None
    kind.check_scale(column)
    check_whole(f"histogram of {column}", "bins", bins, most=MOST_BINS)
    return np.linspace(kind.lower, kind.upper, int(bins) + 1)
