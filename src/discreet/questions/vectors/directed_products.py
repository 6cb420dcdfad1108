"""Products of records with their coordinates along some directions: a step of the power method."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.answer import GramAnswer, Records
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum, View
from discreet.questions.recipe import recipe
from discreet.questions.vectors.clusters import FINE
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.second_moments import EIGHTHS, central_moments_of, weights_of
from discreet.schema.schema import Schema


@recipe("directed_products")
def directed_products_of(
    schema: Schema, columns: tuple[str, ...], center: Array, radius: float, directions: Array
) -> BoundedSum:
    """The sum of z (z'V), row by row, for records z around a center and directions V.

    It is at most |z|^2 long where V does not lengthen vectors, as for orthonormal columns; other rows are shrunk.

    Parameters
    ----------
    center : array of shape (n_columns,)
        Public. Scaled to [-1, 1].
    radius : float
        Public. The length that the difference to the center is shrunk to.
    directions : array of shape (n_columns, n_directions)
        Public. From -1 to 1, on the fine grid, so that coordinates along them do not depend on batches.
    """
    coordinates = Coordinates.of(schema, columns, radius, center)
    n = coordinates.size - 1
    check_directions(directions, n)
    bound = Bound("l2", float(coordinates.grid.step**2 * coordinates.longest * (1 + 2.0**-30)))

    def of(records: Array) -> Array:
        z = coordinates.grid.values(coordinates.steps(records, np.empty((n + 1, len(records))))[1:])
        along = directions.T @ z
        return bound.clip((z[:, None, :] * along[None, :, :]).reshape(directions.size, len(records)).T)

    return BoundedSum(of, bound, columns, Grid.of_radius(bound.radius))


def on_grid(directions: Array) -> Array:
    """Directions on the fine grid."""
    return FINE.values(FINE.cut(directions))


def check_directions(directions: Array, n: int) -> None:
    """Refuse what are not directions of n columns; off the fine grid, coordinates would depend on batches."""
    whole = directions.ndim == 2 and len(directions) == n and np.array_equal(on_grid(directions), directions)
    if not whole or directions.size == 0 or np.abs(directions).max() > 1:
        obstacle = f"the {directions.shape} array of directions is not one of {n} columns in whole steps"
        raise ParameterError("directions", obstacle, "Give numbers from -1 to 1, on the fine grid.")


@recipe("directed_squares")
def directed_squares_of(
    schema: Schema, columns: tuple[str, ...], center: Array, radius: float, directions: Array
) -> BoundedSum:
    """The squares of the coordinates of a record z along directions V, and then what is left of |z|^2.

    They are not negative and add up to |z|^2 where the directions are orthonormal; rows of others are shrunk.

    Parameters
    ----------
    center : array of shape (n_columns,)
        Public. Scaled to [-1, 1].
    radius : float
        Public. The length that the difference to the center is shrunk to.
    directions : array of shape (n_columns, n_directions)
        Public. From -1 to 1, on the fine grid, so that coordinates along them do not depend on batches.
    """
    coordinates = Coordinates.of(schema, columns, radius, center)
    n = coordinates.size - 1
    check_directions(directions, n)
    bound = Bound("l1", float(coordinates.grid.step**2 * coordinates.longest * (1 + 2.0**-16)), nonnegative=True)

    def of(records: Array) -> Array:
        z = coordinates.grid.values(coordinates.steps(records, np.empty((n + 1, len(records))))[1:])
        along = np.square(directions.T @ z)
        across = np.maximum(np.square(z).sum(axis=0) - along.sum(axis=0), 0.0)
        return bound.clip(np.vstack([along, across]).T)

    return BoundedSum(of, bound, columns, Grid.of_radius(bound.radius))


@dataclass(frozen=True)
class Gram:
    """The exact sum of z z', where z is a record around a public center, shrunk to a radius.

    Only a curator can ask it, since what is released is not this sum with noise.

    Parameters
    ----------
    products : BoundedSum
        Public. The sum of all products of two coordinates, of which the constant is one.
    longest : int
        Public. The most that the squared length of z is, in squared steps.
    """

    products: BoundedSum
    longest: int

    @classmethod
    def of(cls, schema: Schema, columns: tuple[str, ...], center: Array, radius: float) -> Gram:
        """Of these columns, scaled to [-1, 1]; see `central_moments_of`."""
        longest = Coordinates.of(schema, columns, radius, center).longest
        return cls(central_moments_of(schema, columns, center, radius), longest)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.products.columns

    @property
    def size(self) -> int:
        return len(self.columns) ** 2

    def answer(self, view: View) -> GramAnswer:
        """The exact sum, and how long one row's vector can be."""
        n = 1 + len(self.columns)
        upper = np.zeros((n, n), dtype=np.int64)
        upper[np.triu_indices(n)] = view.sum(self.products) // (2**EIGHTHS * weights_of(n)).astype(np.int64)
        return GramAnswer((upper + np.triu(upper, 1).T)[1:, 1:], self.longest, view.unit.rows, view.neighbors)


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
