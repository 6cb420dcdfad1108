"""Counts and sums of the records that are nearest to each of several centers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.knob import check_one_of
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema

MOST_CENTERS = 2**16

FINE = Grid(-20)  # coordinates on it have exact distances, so that nearest does not depend on batches


class Scaling:
    """Between a schema's bounds and [-1, 1]."""

    def __init__(self, schema: Schema, columns: Sequence[str]) -> None:
        numbers = [schema.number(name) for name in columns]
        if not numbers:
            raise ParameterError("k-means", "the schema has no numeric column", "Describe at least one.")
        self.n_features = len(numbers)
        self._middle = np.array([0.5 * number.lower + 0.5 * number.upper for number in numbers])
        self.half = np.array([0.5 * number.upper - 0.5 * number.lower for number in numbers])

    def into(self, records: Array) -> Array:
        """Records in [-1, 1], on the fine grid."""
        return FINE.values(FINE.cut(np.clip((records - self._middle) / self.half, -1.0, 1.0)))

    def back(self, points: Array) -> Array:
        """Points in the records' own units."""
        return self._middle + self.half * points


@recipe("clusters")
def clusters_of(schema: Schema, columns: tuple[str, ...], centers: Array, norm: Norm) -> BoundedSum:
    """Each record writes (weight, record / sqrt(n_features)) in the block of its nearest center.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the records lie.
    columns : tuple of str
        Public. Numeric columns.
    centers : array of shape (n_clusters, n_features)
        Public. Scaled to [-1, 1], on the fine grid.
    norm : {"l1", "l2"}
        Public. In which a record's row is bounded.
    """
    scale = Scaling(schema, schema.values(columns))
    check_one_of("k-means", "norm", norm, ("l1", "l2"))
    check_centers(centers, scale.n_features)
    root, weight = math.sqrt(scale.n_features), count_weight(scale.n_features)
    bound = Bound(norm, (math.sqrt(weight * weight + 1) if norm == "l2" else weight + root) * (1 + 2.0**-30))
    grid, size = Grid.of_radius(bound.radius), len(centers) * (1 + scale.n_features)

    def entries(records: Array) -> Array:
        scaled = scale.into(records)
        rows = np.column_stack([np.full(len(scaled), weight), scaled / root])
        return np.where(np.isnan(scaled).any(axis=1, keepdims=True), 0.0, rows)

    def marks(records: Array) -> Array:
        return (nearest(scale.into(records), centers)[:, None] == np.arange(len(centers))).astype(np.float64)

    return BoundedSum(
        of=lambda records: (marks(records)[:, :, None] * entries(records)[:, None, :]).reshape(-1, size),
        bound=bound,
        columns=columns,
        grid=grid,
        total=lambda records: (marks(records).T @ grid.cut(entries(records))).ravel(),
    )


def check_centers(centers: Array, n_features: int) -> None:
    """Refuse what are not centers of these features; off the fine grid, nearest would depend on batches."""
    fits = centers.ndim == 2 and 1 <= len(centers) <= MOST_CENTERS and centers.shape[1] == n_features
    if not fits or np.abs(centers).max() > 1 or not np.array_equal(FINE.values(FINE.cut(centers)), centers):
        obstacle = f"the {centers.shape} array of centers is not one of {n_features} features in whole steps"
        raise ParameterError("k-means", obstacle, f"Give 1 to {MOST_CENTERS} centers from -1 to 1, on the fine grid.")


def count_weight(n_features: int) -> float:
    """What balances the noise of counts and sums, for centers that are uniform in the box: (3 n_features)^(-1/4)."""
    return 1 / math.sqrt(math.sqrt(3 * n_features))  # the same to the last bit on every machine, as powers are not


def nearest(records: Array, centers: Array) -> NDArray[np.intp]:
    """The nearest center of each record; on the fine grid every term is exact, so the answer is the same everywhere."""
    return np.argmin((centers**2).sum(axis=1) - 2 * np.nan_to_num(records) @ centers.T, axis=1)
