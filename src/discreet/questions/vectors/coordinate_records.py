"""All records as bounded vectors, for mechanisms that need more than a sum of them; and how many there are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.answer import Records
from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum, View
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import Coordinates
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class CoordinateRecords:
    """The coordinates u = (w, z) of all records, as `Coordinates` makes them. A curator alone can be asked this.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns.
    radius : float
        Public. The length that z is shrunk to.

    Examples
    --------
    >>> vectors = CoordinateRecords(Schema.numeric(0.0, 10.0, 2), ("x0", "x1"), 1.0)
    >>> bool(1.0 < vectors.longest < 1.2)
    True
    """

    schema: Schema
    columns: tuple[str, ...]
    radius: float

    @property
    def coordinates(self) -> Coordinates:
        return Coordinates.of(self.schema, self.columns, self.radius)

    @property
    def longest(self) -> float:
        """The greatest length of u; rounded up."""
        return math.sqrt(self.coordinates.bound.radius) * (1 + 2.0**-50)

    def answer(self, view: View) -> Records:
        """One row for each record: zeros where a value is missing."""
        found, records = self.coordinates, view.everything(self.columns)
        steps = found.steps(records, np.empty((found.size, len(records))))
        return Records(found.grid.values(steps.T), view.unit.rows, view.neighbors)


@recipe("complete_count")
def complete_count_of(schema: Schema, columns: tuple[str, ...]) -> BoundedSum:
    """One for each record that has a value in all of these columns.

    Parameters
    ----------
    schema : Schema
        Public. Which has these columns.
    columns : tuple of str
        Public. At least one.
    """

    def of(records: Array) -> Array:
        return np.asarray(~np.isnan(records).any(axis=1, keepdims=True), dtype=np.float64)

    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), schema.values(columns), Grid(0))
