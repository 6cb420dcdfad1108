"""Private covariances and correlations of pairs of columns, from one bounded sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.parameters import checked
from discreet.releases.ask import columns_of
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.statistics.moments.pair_table import PairTable
from discreet.statistics.moments.products import products
from discreet.trust.as_private import Bounds


@checked
def covariance(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    radius: float | None = None,
    population: bool = False,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
) -> PairTable:
    """Release the covariance of each pair of columns.

    Parameters
    ----------
    data : PrivateData, array of shape (n, columns), or data frame
        The records. One with a missing value in any of the columns counts for nothing.
    columns : sequence of str, optional
        Public. Numeric columns; all of them where not given.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: two numbers, or two sequences with one number per column; or a schema.
    radius : float, optional
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1]; the covariances are
        those of the shrunk records. For n columns sqrt(n) shrinks nothing, and is the radius where none is given.
    population : bool
        Public. Whether the intervals are for the population that the records are a sample of, drawn independently. The
        sampling error comes from moments of pairs up to the fourth, whatever the distribution; as without noise, heavy
        tails take many records. These moments add 4 to 7 % to Gaussian noise, and 10 to 35 % to Laplace noise. Where
        noise hides them, intervals are wide enough for what they may be, and cover up to 99 % instead of 95 %. The sums
        are divided by the number of records less one.
    confidence : float
        Public. Of each interval.
    epsilon, delta : float
        Public. What this may cost, in all.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

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
    budget = Budget(epsilon, delta)
    check_confidence("covariance", confidence)
    of = columns_of("covariance", data, columns, bounds, budget)
    names = of.columns
    found = products(f"covariance of {', '.join(names)}", of.data, names, radius, population, budget, key)
    figure = found.sampled_covariance if population else found.covariance
    values, errors, halves = np.zeros((3, len(names), len(names)))
    counted = found.counted(confidence)
    for i, j in combinations_with_replacement(range(len(names)), 2):
        one = figure(i, j)
        values[i, j] = values[j, i] = min(max(one.value, -1.0), 1.0)
        errors[i, j] = errors[j, i] = one.standard_error(found.spread) if counted else math.inf
        half = one.half_width(found.spread, confidence) if counted else 2.0
        halves[i, j] = halves[j, i] = min(half, 1 + abs(values[i, j]))
    units = np.array([0.5 * column.upper - 0.5 * column.lower for column in map(of.data.schema.number, names)])
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


@checked
def correlation(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    radius: float | None = None,
    population: bool = False,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
) -> PairTable:
    """Release the correlation of each pair of columns.

    Where a column's variance may be nothing but noise, so may its correlations: they are then given as 0 ± 1, which is
    always right. So where noise is about as large, intervals cover more than they say.

    Parameters
    ----------
    data, bounds, radius, population, confidence, epsilon, delta, key
        Public, except for the data. As for `covariance`.
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
    budget = Budget(epsilon, delta)
    check_confidence("correlation", confidence)
    of = columns_of("correlation", data, columns, bounds, budget)
    names = of.columns
    if len(names) < 2:
        raise ParameterError("correlation", f"the columns are {', '.join(names)}", "Name two or more.")
    found = products(f"correlation of {', '.join(names)}", of.data, names, radius, population, budget, key)
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
