"""Products of records with their coordinates along some directions: a step of the power method."""

from __future__ import annotations

import numpy as np

from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.clusters import FINE
from discreet.questions.vectors.coordinates import Coordinates
from discreet.schema.schema import Schema


@recipe("directed_products")
def directed_products_of(
    schema: Schema, columns: tuple[str, ...], center: Array, radius: float, directions: Array
) -> BoundedSum:
    """The sum of z (z'V), row by row, for records z around a center and directions V.

    It is at most |z|^2 long where V does not lengthen vectors, as for orthonormal columns; other rows are shrunk.

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
