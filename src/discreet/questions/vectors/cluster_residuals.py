"""Counts and sums of the differences between records and the nearest of several centers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_positive
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.clusters import Scaling, blocks, check_centers, marks, nearest
from discreet.questions.vectors.slices import by_slices
from discreet.schema.schema import Schema

COUNT = 0.7  # weight of a count: it balances the noise of counts and sums where residuals are about 0.7 radii long


@recipe("cluster_residuals")
def cluster_residuals_of(
    schema: Schema, columns: tuple[str, ...], centers: Array, radius: float, norm: Norm
) -> BoundedSum:
    """Each record writes (0.7, residual / radius) in the block of its nearest center.

    Residuals of records near their centers are short, and so is the radius: that much less noise is needed than for the
    sums of the records themselves.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the records lie.
    columns : tuple of str
        Public. Numeric columns.
    centers : array of shape (n_clusters, n_features)
        Public. Scaled to [-1, 1], on the fine grid.
    radius : float
        Public. The length that a residual is shrunk to.
    norm : {"l1", "l2"}
        Public. In which a record's row is bounded.
    """
    scale = Scaling(schema, schema.values(columns))
    check_one_of("cluster residuals", "norm", norm, ("l1", "l2"))
    check_centers(centers, scale.n_features)
    check_positive("cluster residuals", "radius", radius, least=2.0**-20)
    most = math.hypot(COUNT, 1.0) if norm == "l2" else COUNT + math.sqrt(scale.n_features)
    bound = Bound(norm, most * (1 + 2.0**-30))
    grid, size = Grid.of_radius(bound.radius), len(centers) * (1 + scale.n_features)

    def entries(scaled: Array, places: NDArray[np.intp]) -> Array:
        rows = np.empty((1 + scale.n_features, len(places)))
        rows[0] = COUNT
        away = np.subtract(scaled, centers.T[:, places], out=rows[1:])
        lengths = np.sqrt(np.einsum("ij,ij->j", away, away))
        away /= np.maximum(lengths, radius)
        rows[:, np.isnan(lengths)] = 0.0
        return rows

    def of(records: Array) -> Array:
        scaled = scale.into(records)
        places = nearest(scaled, centers)
        return blocks(marks(places, len(centers)), entries(scaled, places))

    def total(records: Array) -> Array:
        scaled = scale.into(records)
        places = nearest(scaled, centers)
        return np.asarray(marks(places, len(centers)) @ grid.cut(entries(scaled, places)).T).ravel()

    return BoundedSum(of, bound, columns, grid, by_slices(total, scale.n_features, size))
