"""Count, sums and products of all columns from one bounded sum.

A record is scaled to z in [-1, 1] and shrunk to the length `radius`; a constant w joins it. The sum of u u', where
u = (w, z), then holds the count in its corner, the sums beside it and all products. Each product is taken once, and
11/8 times where its two factors differ. So one record adds a vector whose squared length is

    sum_i u_i^4 + (11/8)^2 sum_{i<j} u_i^2 u_j^2  <=  |u|^4  <=  (w^2 + radius^2)^2,

since (11/8)^2 < 2: these 11/8 cost nothing and take a quarter off the noise of such products.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.mapped_coordinates import AcuteBound, MappedCoordinates
from discreet.schema.schema import Schema

CROSS = 11 / 8
EIGHTHS = 3  # bits between the step of a product and the finer one of the sum, on which 11/8 is exact


@recipe("second_moments")
def second_moments_of(schema: Schema, columns: tuple[str, ...], radius: float) -> BoundedSum:
    """The sum of all products of two coordinates; `unfolded` makes a matrix of it.

    Coordinates are whole steps, so their products are whole squared steps: cutting them to a grid changes nothing, and
    a product of matrices in float64 adds them without error. A record with a missing value adds nothing. Beyond 2**29
    records the sum may wrap around; see `exact_sum`.

    Parameters
    ----------
    radius : float
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1].
    """
    return products_of(Coordinates.of(schema, columns, radius), columns)


@recipe("central_moments")
def central_moments_of(schema: Schema, columns: tuple[str, ...], center: Array, radius: float) -> BoundedSum:
    """The same products of records around a public center: much shorter vectors where the records lie near it.

    No two of them form an obtuse angle: with c = (11/8)^2 / 2 < 1, the product of those of u and v is
    c (u'v)^2 + (1 - c) sum_i u_i^2 v_i^2.

    Parameters
    ----------
    center : array of shape (n_columns,)
        Public. Scaled to [-1, 1].
    radius : float
        Public. The length that the difference to the center is shrunk to.
    """
    question = products_of(Coordinates.of(schema, columns, radius, center), columns)
    return dataclasses.replace(question, bound=AcuteBound("l2", question.bound.radius))


class StepVectors(Protocol):
    """What makes vectors of records, in whole steps: coordinates of columns, of maps of them, or other features."""

    @property
    def size(self) -> int: ...

    @property
    def grid(self) -> Grid: ...

    @property
    def bound(self) -> Bound:
        """Of the length of u u'."""

    @property
    def weight(self) -> float:
        """The first coordinate, where it is a constant."""

    @property
    def raw(self) -> bool: ...

    def rows(self, records: Array) -> Array: ...

    def products(self, records: Array) -> Steps:
        """The sum of u u', in squared steps."""


def products_of(coordinates: StepVectors, columns: tuple[str, ...]) -> BoundedSum:
    """The sum of all products of two of these coordinates."""
    size, grid = coordinates.size, Grid(2 * coordinates.grid.exponent - EIGHTHS)
    first, second = np.triu_indices(size)
    weights = (2**EIGHTHS * weights_of(size)).astype(np.int64)

    def of(records: Array) -> Array:
        rows = coordinates.rows(records)
        return grid.values(rows[:, first] * rows[:, second] * weights)

    def total(records: Array) -> Steps:
        return np.asarray(coordinates.products(records)[first, second] * weights)

    return BoundedSum(of, coordinates.bound, columns, grid, total, raw=coordinates.raw)


def weights_of(size: int) -> Array:
    """The weight of the product of each pair of n coordinates, row by row."""
    first, second = np.triu_indices(size)
    return np.where(first == second, 1.0, CROSS)


def unfolded(released: Array, coordinates: StepVectors) -> Array:
    """The sum of (1, z)(1, z)', a symmetric matrix with the count in its corner, from a release: post-processing."""
    size = coordinates.size
    upper = np.zeros((size, size))
    upper[np.triu_indices(size)] = released / weights_of(size)
    scale = np.array([coordinates.weight] + [1.0] * (size - 1))
    return (upper + np.triu(upper, 1).T) / np.outer(scale, scale)


@recipe("mapped_moments")
def mapped_moments_of(schema: Schema, columns: tuple[str, ...], matrix: Array) -> BoundedSum:
    """The sum of all products of two coordinates of (w, M (1, x)); see `second_moments`, whose `unfolded` reads it.

    No two records add vectors with an obtuse angle: see `central_moments`.

    Parameters
    ----------
    columns : tuple of str
        Public. Numeric columns, scaled from their bounds to [-1, 1].
    matrix : array of shape (k, 1 + n)
        Public. M, on the grid of `MappedCoordinates`. A record is shrunk to length 1 after it.
    """
    return products_of(MappedCoordinates.of(schema, columns, matrix), columns)
