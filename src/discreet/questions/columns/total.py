"""The sum of a column."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.formula import NOUGHT, Formula, Tally, never_tiny
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Number, Schema

MASS = Bound("l1", 1.0, nonnegative=True)
INSIDE = 1 - 2.0**-40  # keeps a rounded mass inside its bound, so that clipping never acts


@recipe("total")
def total_of(schema: Schema, column: str, origin: float) -> BoundedSum:
    """The sum of the values, measured from an origin; a missing value adds nothing."""
    number = schema.number(column)
    radius = max(abs(number.lower - origin), abs(number.upper - origin))
    bound = Bound("linf", radius, nonnegative=origin <= number.lower)
    grid = Grid.of_radius(radius)

    def of(records: Array) -> Array:
        return np.nan_to_num(np.clip(records[:, :1], number.lower, number.upper) - origin)

    tally = Tally(NOUGHT, 1, (never_tiny(Formula.column(0) - origin, radius),))
    return BoundedSum(of, bound, (column,), grid, lambda records: grid.cut(of(records)).sum(axis=0), tally=tally)


@recipe("count")
def count_of(schema: Schema, column: str | None) -> BoundedSum:
    """One for each record whose value is not missing; without a column, for each record."""
    columns = () if column is None else schema.values((column,))
    cell = NOUGHT if column is None else NOUGHT.where(Formula.column(0))

    def of(records: Array) -> Array:
        return np.asarray(~np.isnan(records).any(axis=1, keepdims=True), dtype=np.float64)

    def total(records: Array) -> Array:
        return np.asarray(of(records).sum(axis=0))

    tally = Tally(cell, 1, (Formula.constant(1),))
    return BoundedSum(of, Bound("l1", 1.0, nonnegative=True), columns, Grid(0), total, tally=tally)


@recipe("winsorized")
def winsorized_of(schema: Schema, column: str, lower: float, upper: float) -> BoundedSum:
    """The mass at two cuts of each value of a column, moved to the nearer cut where it is beyond."""
    return _mass_between(column, _cuts(schema, column, lower, upper), lambda values: np.clip(values, lower, upper))


@recipe("trimmed")
def trimmed_of(schema: Schema, column: str, lower: float, upper: float) -> BoundedSum:
    """The mass at two cuts of each value of a column that is between them."""

    def inside(values: Array) -> Array:
        return np.where((values >= lower) & (values <= upper), values, np.nan)

    return _mass_between(column, _cuts(schema, column, lower, upper), inside)


def _cuts(schema: Schema, column: str, lower: float, upper: float) -> Number:
    """The cuts, which lie inside the bounds of the column."""
    number = schema.number(column)
    for name, cut in (("lower", lower), ("upper", upper)):
        check_positive(f"cuts of {column}", name, cut, number.lower, number.upper)
    return Number(lower, upper)


def _mass_between(column: str, cuts: Number, inside: Callable[[Array], Array]) -> BoundedSum:
    """Each value's unit of mass, split between the cuts by how near it is to either, and a grain less of it."""
    grid = Grid.of_radius(MASS.radius)

    def of(records: Array) -> Array:
        upper = (inside(records[:, 0]) - cuts.lower) / (cuts.upper - cuts.lower)
        return np.nan_to_num(INSIDE * np.stack([1 - upper, upper], axis=1))

    return BoundedSum(of, MASS, (column,), grid, lambda records: grid.cut(of(records)).sum(axis=0))
