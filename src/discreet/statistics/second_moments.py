"""Count, sums and products of all columns from one bounded sum.

A record is scaled to z in [-1, 1] and shrunk to the length `radius`; a constant w joins it. The sum of u u', where
u = (w, z), then holds the count in its corner, the sums beside it and all products. Each product is taken once, and
11/8 times where its two factors differ. So one record adds a vector whose squared length is

    sum_i u_i^4 + (11/8)^2 sum_{i<j} u_i^2 u_j^2  <=  |u|^4  <=  (w^2 + radius^2)^2,

since (11/8)^2 < 2: these 11/8 cost nothing and take a quarter off the noise of such products.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.digits import error_bar, number
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.receipt import Receipt
from discreet.core.recipe import recipe
from discreet.core.schema import Schema
from discreet.statistics.ask import Released, asked, columns_of
from discreet.statistics.coordinates import Coordinates
from discreet.statistics.noise import CONFIDENCE
from discreet.trust.as_private import Bounds

CROSS = 11 / 8
EIGHTHS = 3  # bits between the step of a product and the finer one of the sum, on which 11/8 is exact
SLICE = 2**15  # coordinates at a time, which stay in the cache; their products add up to less than 2**46 steps
SHOWN = 8  # columns of a matrix, when it is printed


@recipe("second_moments")
def second_moments_of(schema: Schema, columns: tuple[str, ...], radius: float) -> BoundedSum:
    """The sum of all products of two coordinates; `unfolded` makes a matrix of it.

    Coordinates are whole steps, so their products are whole squared steps: cutting them to a grid changes nothing, and
    a product of matrices in float64 adds them without error. A record with a missing value adds nothing. Beyond 2**29
    records the sum may wrap around; see `exact_sum`.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns.
    radius : float
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1].
    """
    coordinates = Coordinates.of(schema, columns, radius)
    size, grid = coordinates.size, Grid(2 * coordinates.grid.exponent - EIGHTHS)
    first, second = np.triu_indices(size)
    weights = math.ldexp(1.0, EIGHTHS) * weights_of(size)

    def of(records: Array) -> Array:
        steps = coordinates.steps(records, np.empty((size, len(records))))
        return grid.values((steps[first] * steps[second]).T * weights)

    def total(records: Array) -> Array:
        rows = max(SLICE // size, 1)
        room, sums = np.empty((size, rows)), np.zeros((size, size))
        for start in range(0, len(records), rows):
            some = records[start : start + rows]
            steps = coordinates.steps(some, room[:, : len(some)])
            sums[:, 1:] += steps @ steps[1:].T
            sums[0, 0] += steps[0] @ steps[0]
        return sums[first, second] * weights

    return BoundedSum(of, coordinates.bound, columns, grid, total)


def weights_of(size: int) -> Array:
    """What the product of each pair of so many coordinates counts, row by row."""
    first, second = np.triu_indices(size)
    return np.where(first == second, 1.0, CROSS)


def unfolded(released: Array, coordinates: Coordinates) -> Array:
    """The sum of (1, z)(1, z)', a symmetric matrix with the count in its corner, from a release: post-processing."""
    size = coordinates.size
    upper = np.zeros((size, size))
    upper[np.triu_indices(size)] = released / weights_of(size)
    scale = np.array([coordinates.weight] + [1.0] * (size - 1))
    return (upper + np.triu(upper, 1).T) / np.outer(scale, scale)


@dataclass(frozen=True)
class SecondMoments:
    """Released second moments, over the records without a missing value.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    count, count_error : float
        The number of records, and half the width of an interval that holds the exact one.
    mean, mean_error : arrays of shape (n,)
        The mean of each column, and half the widths of such intervals: for the records as they were shrunk.
    matrix : array of shape (n, n)
        The mean product of each pair of columns; noise may keep it from being positive definite.
    confidence : float
        Of each interval.
    receipt : Receipt
        What it cost.
    """

    columns: tuple[str, ...]
    count: float
    count_error: float
    mean: Array
    mean_error: Array
    matrix: Array
    confidence: float
    receipt: Receipt

    def __str__(self) -> str:
        bar = f"{number(self.count, self.count_error)} ± {error_bar(self.count_error)}"
        means = [f"{number(m, e)} ± {error_bar(e)}" for m, e in zip(self.mean, self.mean_error, strict=True)]
        rows = [["", "mean"], *([name, text] for name, text in zip(self.columns, means, strict=True))]
        if len(self.columns) <= SHOWN:
            cells = [[f"{value:.5g}" for value in values] for values in self.matrix]
            rows = [[*row, *more] for row, more in zip(rows, [self.columns, *cells], strict=True)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([f"second moments of {bar} records ({self.confidence:.0%})", *lines])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.receipt._repr_html_()}"


def second_moments(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    radius: float | None = None,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
) -> SecondMoments:
    """Release the number of records, the mean of each column and the mean product of each pair of columns.

    Parameters
    ----------
    data : PrivateData, array of shape (n, columns), or data frame
        The records. One with a missing value in any of the columns counts for nothing.
    columns : sequence of str, optional
        Public. Numeric columns; all of them where not given.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: two numbers, or two sequences with one number per column; or a schema.
    radius : float, optional
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1]. The noise grows with
        its square. For n columns sqrt(n) shrinks nothing, and is the radius where none is given.
    epsilon, delta : float
        Public. What this may cost, in all.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    SecondMoments
        The means with their error bars, the mean products and the receipt.

    Guarantee
    ---------
    The event on the receipt: one `Laplace` or `Gaussian` release of one bounded sum, for the data set's own neighbors.
    With Gaussian noise it is how Dwork, Talwar, Thakurta and Zhang 2014 release a covariance matrix, but for the 11/8.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> second_moments(rng.uniform(-1, 1, (100_000, 2)), bounds=(-1, 1)).matrix.round(2) + 0.0
    array([[0.33, 0.  ],
           [0.  , 0.33]])
    """
    budget = Budget(epsilon, delta)
    of = columns_of("second moments", data, columns, bounds, budget)
    schema, names = of.data.schema, of.columns
    radius = math.sqrt(len(names)) if radius is None else radius
    coordinates = Coordinates.of(schema, names, radius)
    question, size = second_moments_of(schema, names, radius), len(weights_of(coordinates.size))
    released = asked(of.data, question, size, budget, f"second moments of {', '.join(names)}", key)
    return _described(names, coordinates, released)


def _described(names: tuple[str, ...], coordinates: Coordinates, released: Released) -> SecondMoments:
    """Post-processing: sums over the count, and how far noise throws a ratio, by its derivatives."""
    sums, weight = unfolded(released.values, coordinates), coordinates.weight
    count = max(float(sums[0, 0]), 1.0)
    moments = np.clip(sums / count, -1.0, 1.0)
    moments[0, 0] = 1.0
    one = 1 / (weight * count)
    errors = [released.spread.half_width([one / CROSS, one * mean / weight]) for mean in moments[0, 1:]]
    own = coordinates.back(moments)
    return SecondMoments(
        names,
        max(float(sums[0, 0]), 0.0),
        released.spread.half_width([weight**-2]),
        own[0, 1:],
        coordinates.half[:, 0] * np.minimum(errors, 2.0),
        own[1:, 1:],
        CONFIDENCE,
        released.receipt,
    )
