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
    ends = np.square(np.ldexp(np.array(radii), -coordinates.grid.exponent))
    lower, upper = coordinates.middle[:, 0] - coordinates.half[:, 0], coordinates.middle[:, 0] + coordinates.half[:, 0]

    def cells(records: Array) -> Array:
        """The cell of each record that has one."""
        whole = records[np.isfinite(records).all(axis=1)]
        steps = coordinates.steps(np.clip(whole, lower, upper), np.empty((coordinates.size, len(whole))))[1:]
        return np.searchsorted(ends, np.einsum("ij,ij->j", steps, steps))

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), len(radii) + 1))
        marks[np.isfinite(records).all(axis=1)] = cells(records)[:, None] == np.arange(len(radii) + 1)
        return marks

    def total(records: Array) -> Array:
        return np.bincount(cells(records), minlength=len(radii) + 1).astype(np.float64)

    return BoundedSum(of, ONE_CELL, columns, Grid(0), total)
