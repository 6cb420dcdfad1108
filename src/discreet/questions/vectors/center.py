"""The number of records and their sum, for a center around which they are looked at."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.clusters import FINE, Scaling, check_centers, marks, missing
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.directed_products import check_directions
from discreet.questions.vectors.row_steps import StepRows, by_slices
from discreet.schema.schema import Schema

MOST_BINS = 2**12
MOST_CELLS = 2**16


@recipe("center")
def center_of(schema: Schema, columns: tuple[str, ...]) -> BoundedSum:
    """Each record adds its coordinates (w, z), where its n values z are scaled to [-1, 1]; `count_weight` is w.

    They are whole steps between -1 and 1, so that |z|^2 is at most n without any shrinking. A record with a missing
    value adds nothing.
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


@recipe("distances")
def distances_of(schema: Schema, columns: tuple[str, ...], centers: Array, farthest: float, bins: int) -> BoundedSum:
    """Counts of records in equal bins of their distance; a record with a missing value is in none.

    Parameters
    ----------
    centers : array of shape (n_clusters, n_features)
        Public. Scaled to [-1, 1], on the fine grid.
    farthest : float
        Public. The end of the last bin, which also counts what is farther away.
    bins : int
        Public. How many bins.
    """
    scaling = Scaling(schema, schema.values(columns))
    check_centers(centers, scaling.n_features)
    check_positive("distances", "farthest", farthest)
    check_whole("distances", "bins", bins, most=MOST_BINS)
    per_step, twice = FINE.step * bins / farthest, 2 * FINE.cut(centers).T
    squared = np.square(FINE.cut(centers)).sum(axis=1)

    def places(rows: StepRows) -> NDArray[np.intp]:
        """The bin of each record; one more than there are bins for a record that counts for nothing.

        Squared distances are whole numbers below 2**53: the same in any order.
        """
        squares = rows.squares()
        squares += (squared - rows.steps @ twice).min(axis=1)
        lengths = np.sqrt(squares, out=squares)
        lengths *= per_step
        return np.where(rows.present, np.fmin(lengths, bins - 1), bins).astype(np.intp)

    def total(records: Array) -> Steps:
        slices = map(places, scaling.rows.slices(records))
        return sum((np.bincount(some, minlength=bins + 1)[:bins] for some in slices), np.zeros(bins, dtype=np.int64))

    return BoundedSum(
        of=lambda records: marks(places(scaling.rows.of(records)), bins).T,
        bound=Bound("l1", 1.0, nonnegative=True),
        columns=columns,
        grid=Grid(0),
        total=total,
        raw=True,
    )


def radius_of(counts: Array, farthest: float, share: float) -> float:
    """The distance within which this share of the records lies, from noisy counts: post-processing.

    Examples
    --------
    >>> radius_of(np.array([40.0, 50.0, 8.0, 2.0]), farthest=4.0, share=0.9)
    2.0
    """
    below = np.cumsum(counts)
    reached = below >= share * max(float(below[-1]), 1.0)
    place = int(np.argmax(reached)) if reached.any() else len(counts) - 1
    return farthest * (1 + place) / len(counts)


@recipe("projected_cells")
def projected_cells_of(
    schema: Schema, columns: tuple[str, ...], center: Array, directions: Array, reach: Array, cells: int
) -> BoundedSum:
    """One mark for each record, in the cell of its coordinates; what is outside the grid is in the nearest cell.

    Parameters
    ----------
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
