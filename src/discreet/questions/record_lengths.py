"""One mark for each record, by its length: whether records are longer than public radii."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.knob import check_knob, check_size
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema
from discreet.questions.contingency import ONE_CELL
from discreet.questions.coordinates import MOST_COLUMNS, SHORTEST, Coordinates

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
        check_knob(ASKED, "radius", radius, least=SHORTEST, most=LONGEST)
    if not radii or not np.all(np.diff(radii) > 0):
        raise ParameterError(ASKED, "the radii do not increase, or there are none", "Give each once, in order.")
    reach = math.ldexp(1.0, -coordinates.grid.exponent)
    ends, scale, cells = np.square(np.array(radii) * reach), reach / coordinates.half, len(radii) + 1

    def places(records: Array) -> Array:
        """The cell of each record; one more for records without a length."""
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.subtract(records.T, coordinates.middle)
            np.rint(np.multiply(steps, scale, out=steps), out=steps)
            known = np.isfinite(np.einsum("ij->j", steps))
        np.clip(steps, -reach, reach, out=steps)
        return np.where(known, np.searchsorted(ends, np.einsum("ij,ij->j", steps, steps)), cells)

    def of(records: Array) -> Array:
        return (places(records)[:, None] == np.arange(cells)).astype(np.float64)

    def total(records: Array) -> Array:
        return np.bincount(places(records), minlength=cells)[:cells].astype(np.float64)

    return BoundedSum(of, ONE_CELL, columns, Grid(0), total)
