"""Counts of records in the cells of a grid along a few directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.clusters import Scaling, check_centers, marks, missing
from discreet.questions.vectors.directed_products import check_directions
from discreet.questions.vectors.slices import by_slices
from discreet.schema.schema import Schema

MOST_CELLS = 2**16


@recipe("projected_cells")
def projected_cells_of(
    schema: Schema, columns: tuple[str, ...], center: Array, directions: Array, reach: Array, cells: int
) -> BoundedSum:
    """One mark for each record, in the cell of its coordinates; what is outside the grid is in the nearest cell.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the records lie.
    columns : tuple of str
        Public. Numeric columns.
    center : array of shape (n_features,)
        Public. The middle of the grid, scaled to [-1, 1], on the fine grid.
    directions : array of shape (n_features, n_axes)
        Public. From -1 to 1, on the fine grid, so that a cell does not depend on batches.
    reach : array of shape (n_axes,)
        Public. How far the grid goes along each direction, either way.
    cells : int
        Public. How many cells there are along each direction.
    """
    scale = Scaling(schema, schema.values(columns))
    check_centers(center[None, :] if center.ndim == 1 else center, scale.n_features)
    check_directions(directions, scale.n_features)
    check_whole("projected cells", "cells", cells, most=MOST_CELLS)
    axes = directions.shape[1]
    if reach.shape != (axes,) or not (reach > 2.0**-40).all() or cells**axes > MOST_CELLS or center.ndim != 1:
        obstacle = f"the reach has shape {reach.shape}, and there are {cells} cells along each of {axes} directions"
        raise ParameterError(
            "projected cells", obstacle, f"Give one positive reach for each; {MOST_CELLS} cells at most."
        )
    size = cells**axes

    def places(records: Array) -> NDArray[np.intp]:
        """The cell of each record; one more than there are cells for a record that counts for nothing."""
        scaled = scale.into(records)
        along = directions.T @ (scaled - center[:, None]) / reach[:, None]
        nowhere = missing(scaled)
        along[:, nowhere] = 0.0
        steps = np.clip(np.floor((along + 1) * (0.5 * cells)), 0, cells - 1).astype(np.intp)
        return np.where(nowhere, size, np.ravel_multi_index(tuple(steps), (cells,) * axes))

    def total(records: Array) -> Array:
        return np.bincount(places(records), minlength=size + 1)[:size].astype(np.float64)

    return BoundedSum(
        of=lambda records: marks(places(records), size).T,
        bound=Bound("l1", 1.0, nonnegative=True),
        columns=columns,
        grid=Grid(0),
        total=by_slices(total, scale.n_features, size),
    )


def cell_middles(reach: Array, cells: int) -> Array:
    """The coordinates of the middle of each cell, one in each row.

    Examples
    --------
    >>> cell_middles(np.array([1.0]), 2)
    array([[-0.5],
           [ 0.5]])
    """
    places = np.indices((cells,) * len(reach)).reshape(len(reach), -1).T
    return np.asarray(((places + 0.5) * (2 / cells) - 1) * reach)
