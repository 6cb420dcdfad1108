"""The number of records and their sum, for a center around which they are looked at."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import Coordinates
from discreet.schema.schema import Schema


@recipe("center")
def center_of(schema: Schema, columns: tuple[str, ...]) -> BoundedSum:
    """Each record adds its coordinates (w, z), where its n values z are scaled to [-1, 1]; `count_weight` is w.

    They are whole steps between -1 and 1, so that |z|^2 is at most n without any shrinking. A record with a missing
    value adds nothing.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns.
    """
    coordinates, n = _whole_box(schema, columns), len(columns)
    reach = math.sqrt(coordinates.weight**2 + n) * (1 + 2.0**-30)

    def of(records: Array) -> Array:
        found = coordinates.scaled.of(records)
        return coordinates.grid.values(np.column_stack([coordinates.constant * found.present, found.steps]))

    def total(records: Array) -> Steps:
        """The steps of a slice add up to less than 2**32, which float64 holds; int64 carries the total."""
        sums = np.zeros(1 + n, dtype=np.int64)
        for some in coordinates.scaled.slices(records):
            sums[0] += coordinates.constant * np.count_nonzero(some.present)
            sums[1:] += (some.present.astype(np.float64) @ some.steps).astype(np.int64)
        return sums

    return BoundedSum(of, Bound("l2", reach), columns, coordinates.grid, total, raw=True)


@cache
def count_weight(columns: int) -> float:
    """What a record adds to the first number, for so many columns, whatever their bounds."""
    schema = Schema.numeric(-1.0, 1.0, columns)
    return _whole_box(schema, schema.features).weight


def _whole_box(schema: Schema, columns: tuple[str, ...]) -> Coordinates:
    return Coordinates.of(schema, columns, math.sqrt(max(1, len(columns))))
