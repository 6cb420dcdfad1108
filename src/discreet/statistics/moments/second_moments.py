"""The private mean product of each pair of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack, overload

import numpy as np

from discreet.core.grid import Array
from discreet.questions.vectors.coordinates import Coordinates
from discreet.releases.ask import ColumnsOf, OneSum
from discreet.releases.columns import Columns, Series
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.groups import By, GroupedResults
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.releases.table import Tabular
from discreet.statistics.moments.covariance import covariance
from discreet.statistics.moments.products import Products, products

SHOWN = 8  # columns of a matrix, when it is printed


@dataclass(frozen=True, kw_only=True)
class SecondMoments(Tabular):
    """Released second moments, over the records without a missing value, as they were shrunk.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    count : Estimate
        The number of records.
    means : Series
        The mean of each column.
    matrix : array of shape (n, n)
        The mean product of each pair of columns; noise may keep it from being positive definite.
    """

    columns: tuple[str, ...]
    count: Estimate
    means: Series
    matrix: Array

    def tabulated(self) -> Columns:
        """A row for each column: its mean, and its mean product with each column."""
        products = (Series(f"times {name}", self.matrix[:, j]) for j, name in enumerate(self.columns))
        return Columns({"column": self.columns}, (self.means, *products))

    def shown(self) -> Columns:
        """Without products, where there are many columns."""
        columns = self.tabulated()
        return columns if len(self.columns) <= SHOWN else Columns(columns.labels, columns.series[:1])


@overload
def second_moments(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: None = None,
    radius: float | None = None,
    **options: Unpack[Options],
) -> SecondMoments: ...
@overload
def second_moments(
    data: Any, columns: Sequence[str] | None = None, *, by: By, radius: float | None = None, **options: Unpack[Options]
) -> GroupedResults[SecondMoments]: ...
@statistic(like=covariance, delta=1e-6)
def second_moments(
    of: ColumnsOf, *, radius: float | None = None, confidence: float = CONFIDENCE, population: bool = False
) -> OneSum[SecondMoments]:
    """Release the number of records, the mean of each column and the mean product of each pair of columns.

    Parameters
    ----------
    population : bool
        Public. Whether the intervals are for the expected number of records in samples like this one and for the means
        of the population, from which records were drawn independently. Else they are for these data.

    Returns
    -------
    SecondMoments
        The means with their intervals, the mean products and the receipt.

    Guarantee
    ---------
    The event on the receipt: one `Laplace` or `Gaussian` release of one bounded sum, for the data set's own neighbors.
    With Gaussian noise it is how Dwork, Talwar, Thakurta and Zhang 2014 release a covariance matrix, apart from the
    factor 11/8.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> second_moments(rng.uniform(-1, 1, (100_000, 2)), bounds=(-1, 1)).matrix.round(2) + 0.0
    array([[0.33, 0.  ],
           [0.  , 0.33]])
    """
    names = of.columns
    coordinates = Coordinates.of(of.schema, names, math.sqrt(len(names)) if radius is None else radius)

    def read(found: Products) -> SecondMoments:
        count = (found.sampled_count if population else found.count)()
        mean_of = found.sampled_mean if population else found.mean
        figures = [mean_of(i) for i in range(len(names))]
        moments = np.clip(found.moments.second / max(count.value, 1.0), -1.0, 1.0)
        moments[0, 0] = 1.0
        own, half = coordinates.back(moments), coordinates.half[:, 0]
        widths = np.minimum([one.half_width(found.spread, confidence) for one in figures], 2.0)
        errors = np.array([one.standard_error(found.spread) for one in figures])
        return SecondMoments(
            name=f"second moments of {', '.join(names)}",
            columns=names,
            count=estimate_of("number of records", count, found.released, confidence),
            means=Series.around("mean", own[0, 1:], half * widths, half * errors),
            matrix=own[1:, 1:],
            confidence=confidence,
            population=population,
            receipt=found.receipt,
        )

    return products(of, "second moments", radius, False, read)
