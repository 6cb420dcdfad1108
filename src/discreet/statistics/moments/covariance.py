"""Private covariances and correlations of pairs of columns, from one bounded sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any, Unpack, overload

import numpy as np

from discreet.core.errors import ParameterError
from discreet.releases.ask import ColumnsOf, OneSum
from discreet.releases.groups import By, GroupedResults
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.statistics.moments.pair_table import PairTable
from discreet.statistics.moments.products import Products, products


@overload
def covariance(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: None = None,
    radius: float | None = None,
    **options: Unpack[Options],
) -> PairTable: ...
@overload
def covariance(
    data: Any, columns: Sequence[str] | None = None, *, by: By, radius: float | None = None, **options: Unpack[Options]
) -> GroupedResults[PairTable]: ...
@statistic(delta=1e-6)
def covariance(
    of: ColumnsOf, *, radius: float | None = None, confidence: float = CONFIDENCE, population: bool = False
) -> OneSum[PairTable]:
    """Release the covariance of each pair of columns.

    Parameters
    ----------
    radius : float, optional
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1]; the covariances are
        those of the shrunk records. For n columns sqrt(n) shrinks nothing, and is the radius where none is given.
    population : bool
        Public. Whether the intervals are for the population that the records are a sample of, drawn independently. The
        sampling error comes from moments of pairs up to the fourth, whatever the distribution; as without noise, heavy
        tails take many records. These moments add 4 to 7 % to Gaussian noise, and 10 to 35 % to Laplace noise. Where
        noise hides them, intervals are wide enough for what they may be, and cover up to 99 % instead of 95 %. The sums
        are divided by the number of records less one.

    Returns
    -------
    PairTable
        The matrix with its intervals and its receipt; `projected` makes it positive semidefinite.

    Guarantee
    ---------
    The event on the receipt: one `Laplace` or `Gaussian` release of one bounded sum, that of `second_moments` or, for a
    population, of `pair_moments`. All else is post-processing.

    Examples
    --------
    >>> rows = np.random.default_rng(0).uniform(-1, 1, (100_000, 1)) * [1.0, -1.0]
    >>> covariance(rows, bounds=(-1, 1)).values.round(2)
    array([[ 0.33, -0.33],
           [-0.33,  0.33]])
    """

    def read(found: Products) -> PairTable:
        return _covariances(found, of, confidence, population)

    return products(of, "covariance", radius, population, read)


@overload
def correlation(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: None = None,
    radius: float | None = None,
    **options: Unpack[Options],
) -> PairTable: ...
@overload
def correlation(
    data: Any, columns: Sequence[str] | None = None, *, by: By, radius: float | None = None, **options: Unpack[Options]
) -> GroupedResults[PairTable]: ...
@statistic(like=covariance, delta=1e-6)
def correlation(
    of: ColumnsOf, *, radius: float | None = None, confidence: float = CONFIDENCE, population: bool = False
) -> OneSum[PairTable]:
    """Release the correlation of each pair of columns.

    Where a column's variance may be nothing but noise, so may its correlations: they are then given as 0 ± 1, which is
    always right. So where noise is about as large, intervals cover more than they say.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. Two numeric columns or more; all of them where not given. Those of an array are x0, x1, ...

    Returns
    -------
    PairTable
        The matrix, between -1 and 1, with its intervals and its receipt; `projected` makes it positive semidefinite.

    Guarantee
    ---------
    The event on the receipt: one `Laplace` or `Gaussian` release of one bounded sum, that of `second_moments` or, for a
    population, of `pair_moments`. All else is post-processing.

    Examples
    --------
    >>> rows = np.random.default_rng(0).uniform(-1, 1, (100_000, 1)) * [1.0, -1.0]
    >>> correlation(rows, bounds=(-1, 1)).values.round(2)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if len(of.columns) < 2:
        raise ParameterError("correlation", f"the columns are {', '.join(of.columns)}", "Name two or more.")

    def read(found: Products) -> PairTable:
        return _correlations(found, of.columns, confidence, population)

    return products(of, "correlation", radius, population, read)


def _covariances(found: Products, of: ColumnsOf, confidence: float, population: bool) -> PairTable:
    """The matrix of covariances in released moments: post-processing."""
    names = of.columns
    figure = found.sampled_covariance if population else found.covariance
    values, errors, halves = np.zeros((3, len(names), len(names)))
    counted = found.counted(confidence)
    for i, j in combinations_with_replacement(range(len(names)), 2):
        one = figure(i, j)
        values[i, j] = values[j, i] = min(max(one.value, -1.0), 1.0)
        errors[i, j] = errors[j, i] = one.standard_error(found.spread) if counted else math.inf
        half = one.half_width(found.spread, confidence) if counted else 2.0
        halves[i, j] = halves[j, i] = min(half, 1 + abs(values[i, j]))
    units = np.array([0.5 * column.upper - 0.5 * column.lower for column in map(of.schema.number, names)])
    both = np.outer(units, units)
    return PairTable(
        name="covariance",
        columns=names,
        values=both * values,
        standard_error=both * errors,
        low=both * (values - halves),
        high=both * (values + halves),
        units=units,
        confidence=confidence,
        population=population,
        receipt=found.receipt,
    )


def _correlations(found: Products, names: tuple[str, ...], confidence: float, population: bool) -> PairTable:
    """The matrix of correlations in released moments: post-processing."""
    figure = found.sampled_correlation if population else found.correlation
    sure = [found.sure(i, confidence) for i in range(len(names))]
    values, halves = np.eye(len(names)), 1 - np.eye(len(names))
    errors = np.where(halves > 0, math.inf, 0.0)
    for i, j in combinations(range(len(names)), 2):
        if sure[i] and sure[j]:
            one = figure(i, j)
            values[i, j] = values[j, i] = one.value
            errors[i, j] = errors[j, i] = one.standard_error(found.spread)
            halves[i, j] = halves[j, i] = min(one.half_width(found.spread, confidence), 1 + abs(one.value))
    return PairTable(
        name="correlation",
        columns=names,
        values=values,
        standard_error=errors,
        low=values - halves,
        high=values + halves,
        units=np.ones(len(names)),
        confidence=confidence,
        population=population,
        receipt=found.receipt,
    )
