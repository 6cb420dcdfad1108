"""The private mean product of each pair of columns."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.digits import error_bar, number
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.questions.coordinates import Coordinates
from discreet.questions.second_moments import CROSS, second_moments_of, unfolded
from discreet.releases.ask import Released, asked, columns_of
from discreet.releases.spread import CONFIDENCE
from discreet.trust.as_private import Bounds

SHOWN = 8  # columns of a matrix, when it is printed


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
    question = second_moments_of(schema, names, radius)
    released = asked(of.data, question, budget, f"second moments of {', '.join(names)}", key)
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
