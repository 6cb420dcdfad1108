"""Counts and sums of the records that are nearest to each of several centers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.row_steps import RowSteps, by_slices
from discreet.schema.schema import Schema

MOST_CENTERS = 2**16
FINE = Grid(-20)  # coordinates on it have exact distances, so that nearest does not depend on batches
COUNT = 0.7  # weight of a count: it balances the noise of counts and sums where residuals are about 0.7 radii long


class Scaling:
    """Between a schema's bounds and [-1, 1]; columns come first, since whole columns are computed fast."""

    def __init__(self, schema: Schema, columns: Sequence[str]) -> None:
        numbers = [schema.number(name) for name in columns]
        if not numbers:
            raise ParameterError("k-means", "the schema has no numeric column", "Describe at least one.")
        self.n_features = len(numbers)
        self._middle = np.array([0.5 * number.lower + 0.5 * number.upper for number in numbers])
        self.half = np.array([0.5 * number.upper - 0.5 * number.lower for number in numbers])
        self._steps = 1 / (FINE.step * self.half)
        self.rows = RowSteps(numbers, self._middle, self._steps, np.trunc)

    def into(self, records: Array) -> Array:
        """Records in [-1, 1], on the fine grid: one in each column."""
        scaled = np.subtract(records.T, self._middle[:, None], order="C")
        scaled *= self._steps[:, None]
        np.clip(scaled, -1 / FINE.step, 1 / FINE.step, out=scaled)
        np.trunc(scaled, out=scaled)
        scaled *= FINE.step
        return scaled

    def back(self, points: Array) -> Array:
        """Points in the records' own units: one in each row."""
        return self._middle + self.half * points


@recipe("clusters")
def clusters_of(schema: Schema, columns: tuple[str, ...], centers: Array, norm: Norm) -> BoundedSum:
    """Each record writes (weight, record / sqrt(n_features)) in the block of its nearest center.

    Parameters
    ----------
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

    def entries(scaled: Array) -> Array:
        rows = np.empty((1 + scale.n_features, scaled.shape[1]))
        rows[0] = weight
        np.multiply(scaled, 1 / root, out=rows[1:])
        rows[:, missing(scaled)] = 0.0
        return rows

    def of(records: Array) -> Array:
        scaled = scale.into(records)
        return blocks(marks(nearest(scaled, centers), len(centers)), entries(scaled))

    def total(records: Array) -> Array:
        scaled = scale.into(records)
        own, gone = marks(nearest(scaled, centers), len(centers)), missing(scaled)
        scaled *= 1 / root / grid.step  # the step is a power of two
        np.trunc(scaled, out=scaled)
        scaled[:, gone] = own[:, gone] = 0.0
        counts = own.sum(axis=1) * math.trunc(weight / grid.step)
        return np.column_stack([counts, own @ scaled.T]).ravel()

    return BoundedSum(of, bound, columns, grid, by_slices(total, scale.n_features, size))


def check_centers(centers: Array, n_features: int) -> None:
    """Refuse what are not centers of these features; off the fine grid, nearest would depend on batches."""
    fits = centers.ndim == 2 and 1 <= len(centers) <= MOST_CENTERS and centers.shape[1] == n_features
    if not fits or np.abs(centers).max() > 1 or not np.array_equal(FINE.values(FINE.cut(centers)), centers):
        obstacle = f"the {centers.shape} array of centers is not one of {n_features} features in whole steps"
        raise ParameterError("k-means", obstacle, f"Give 1 to {MOST_CENTERS} centers from -1 to 1, on the fine grid.")


def count_weight(n_features: int) -> float:
    """What balances the noise of counts and sums, for centers that are uniform in the box: (3 n_features)^(-1/4)."""
    return 1 / math.sqrt(math.sqrt(3 * n_features))  # the same to the last bit on every machine, as powers are not


def nearest(scaled: Array, centers: Array) -> NDArray[np.intp]:
    """The nearest center of each record, a column; for one with a missing value, the first.

    On the fine grid every term is exact, so the answer is the same everywhere.
    """
    places = np.zeros(scaled.shape[1], dtype=np.intp)
    if len(centers) == 1:
        return places
    away = shifted_squares(scaled, centers)
    least = away[0]
    for place in range(1, len(centers)):
        nearer = away[place] < least
        np.copyto(least, away[place], where=nearer)
        np.copyto(places, place, where=nearer)
    return places


def shifted_squares(scaled: Array, centers: Array) -> Array:
    """The squared distance of each record from each center, less the record's own square: exact on the fine grid."""
    away = (-2 * centers) @ scaled
    away += np.square(centers).sum(axis=1)[:, None]
    return away


def marks(places: NDArray[np.intp], size: int) -> Array:
    """One in the place of each record, of so many, and zero elsewhere: a record in each column."""
    return (places == np.arange(size)[:, None]).astype(np.float64)


def blocks(shares: Array, entries: Array) -> Array:
    """Entries, times the share of each block: a record in each row, from one in each column."""
    rows = shares.T[:, :, None] * entries.T[:, None, :]
    return rows.reshape(len(rows), len(shares) * len(entries))


def missing(scaled: Array) -> NDArray[np.bool_]:
    """Whether any value of a record is missing."""
    return np.isnan(scaled.sum(axis=0))


@recipe("cluster_residuals")
def cluster_residuals_of(
    schema: Schema, columns: tuple[str, ...], centers: Array, radius: float, norm: Norm
) -> BoundedSum:
    """Each record writes (0.7, residual / radius) in the block of its nearest center.

    Residuals of records near their centers are short, and so is the radius: that much less noise is needed than for the
    sums of the records themselves.

    Parameters
    ----------
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
