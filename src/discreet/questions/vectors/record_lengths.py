"""One mark for each record, by its length: whether records are longer than public radii."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_positive, check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.contingency import ONE_CELL
from discreet.questions.vectors.coordinates import MOST_COLUMNS, SHORTEST, Coordinates
from discreet.questions.vectors.row_steps import StepRows
from discreet.schema.schema import Schema

ASKED, MOST_RADII, LONGEST = "lengths of records", 2**10, math.sqrt(MOST_COLUMNS)


@recipe("record_lengths")
def record_lengths_of(schema: Schema, columns: tuple[str, ...], radii: tuple[float, ...]) -> BoundedSum:
    """One mark in the cell of a record's length, where the bounds of every column are [-1, 1].

    The first cell is for lengths up to the first radius, the next for those up to the next, and the last for all
    others. A record with a missing value adds nothing. Lengths are those of coordinates in whole steps, whose squares
    add up alike in every order.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns.
    radii : tuple of float
        Public. Lengths, each greater than the one before.
    """
    coordinates = Coordinates.of(schema, columns, math.sqrt(len(columns)) if columns else 1.0)
    check_size(ASKED, len(radii), MOST_RADII)
    for radius in radii:
        check_positive(ASKED, "radius", radius, least=SHORTEST, most=LONGEST)
    if not radii or not np.all(np.diff(radii) > 0):
        raise ParameterError(ASKED, "the radii do not increase, or there are none", "Give each once, in order.")
    ends, cells = np.square(np.array(radii) * math.ldexp(1.0, -coordinates.grid.exponent)), len(radii) + 1

    def places(rows: StepRows) -> NDArray[np.intp]:
        """The cell of each record; one more for records without a length."""
        return np.where(rows.present, np.searchsorted(ends, rows.squares()), cells)

    def of(records: Array) -> Array:
        return (places(coordinates.scaled.of(records))[:, None] == np.arange(cells)).astype(np.float64)

    def total(records: Array) -> Steps:
        slices = map(places, coordinates.scaled.slices(records))
        return sum((np.bincount(some, minlength=cells)[:cells] for some in slices), np.zeros(cells, dtype=np.int64))

    return BoundedSum(of, ONE_CELL, columns, Grid(0), total, raw=True)
