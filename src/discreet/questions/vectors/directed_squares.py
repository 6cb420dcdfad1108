"""How much of the squared length of records lies along some directions, and how much across them."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.directed_products import check_directions
from discreet.schema.schema import Schema


@recipe("directed_squares")
def directed_squares_of(
    schema: Schema, columns: tuple[str, ...], center: Array, radius: float, directions: Array
) -> BoundedSum:
    """The squares of the coordinates of a record z along directions V, and then what is left of |z|^2.

    They are not negative and add up to |z|^2 where the directions are orthonormal; rows of others are shrunk.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns.
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
