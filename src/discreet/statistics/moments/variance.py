"""The private variance and standard deviation of a column."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Unpack, overload

from discreet.core.budget import Budget
from discreet.core.parameters import checked
from discreet.questions.columns.moments import moments_of
from discreet.questions.tables.cells import Edges
from discreet.releases.ask import ColumnOf, Released, column_of
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By, Groups
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.statistics.moments.column_moments import SAMPLED_VARIANCE, VARIANCE
from discreet.statistics.moments.mean import Options
from discreet.statistics.moments.squared_deviations import centre_share, squared_deviations
from discreet.trust.as_private import Bounds

LARGEST = 0.2  # share of the budget that a centre is worth, measured at every mean


@overload
def variance(data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]) -> Estimate: ...
@overload
def variance(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@checked
def variance(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    by: By | None = None,
    edges: Edges | None = None,
    population: bool = False,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate | Table:
    """Release the variance of a column.

    Parameters
    ----------
    data, column, bounds, where, by, edges, confidence, epsilon, delta, key
        Public, except for the data. As for `mean`.
    population : bool
        Public. Whether it is the variance of the population that the records are a sample of, drawn independently: the
        sum of squares is divided by one less than the number of values, and the interval holds sampling error and
        noise. Else it is divided by the number of values, and the interval is for these data and holds the noise
        alone. The sampling error comes from the fourth moment; as without noise, heavy tails take many records.

    Returns
    -------
    Estimate, or Table with a row for each group
        The value, its interval and its receipt. Fewer than two values show nothing of a population: then the interval
        reaches as far as a variance can.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: the number of values is secret under add/remove and
    public under replace. One `Laplace` or `Gaussian` release of Bernstein sums; or, for a large public number, two
    releases, of a centre and of the squared distances from it, which then have less noise.

    Examples
    --------
    >>> import numpy as np
    >>> found = variance(np.arange(100_000) % 10, bounds=(0, 10), epsilon=1.0)
    >>> found.name, round(found.value)
    ('variance of value', 8)
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget, where)
    groups = Groups.wanted(of.data, by, edges)
    if groups is not None:
        moment = SAMPLED_VARIANCE if population else VARIANCE
        return moment.grouped(of, "variance", groups, budget, key, confidence)
    return released_variance(of, "variance", population, budget, key, confidence)


def released_variance(
    of: ColumnOf, name: str, population: bool, budget: Budget, key: str | None, confidence: float
) -> Estimate:
    """The variance of a column, from whichever release has less noise: what decides is public."""
    size = of.data.public_size
    if size is None or centre_share(of, size, budget) > LARGEST:
        moment = SAMPLED_VARIANCE if population else VARIANCE
        return moment.released(of, name, budget, key, confidence)
    title, number = f"{name} of {of.column}", of.data.schema.number(of.column)
    check_confidence(title, confidence)
    found = squared_deviations(of, size, 2 if population else 1, title, budget, key)
    most = (number.upper - number.lower) ** 2 / 4
    return Estimate.around(
        title,
        min(max(found.variance, 0.0), most) * (size / (size - 1) if population else 1.0),
        min(found.half_width(confidence), most),
        standard_error=found.law.deviation,
        confidence=confidence,
        population=population,
        receipt=found.receipt,
    )


@overload
def standard_deviation(
    data: Any, column: str | None = None, *, by: None = None, **options: Unpack[Options]
) -> Estimate: ...
@overload
def standard_deviation(data: Any, column: str | None = None, *, by: By, **options: Unpack[Options]) -> Table: ...
@checked
def standard_deviation(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    where: str | None = None,
    by: By | None = None,
    edges: Edges | None = None,
    population: bool = False,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate | Table:
    """Release the standard deviation of a column: the root of its private variance.

    Noise is added to the variance, never to its root: one record moves a variance by a share of about 1/n of the
    squared width of the bounds, but a standard deviation by as much as 1/sqrt(n) of the width.

    Parameters
    ----------
    data, column, bounds, where, by, edges, confidence, epsilon, delta, key
        Public, except for the data. As for `mean`.
    population : bool
        Public. As for `variance`.

    Returns
    -------
    Estimate, or Table with a row for each group
        The value, its interval, which is the root of that of the variance, and its receipt.

    Guarantee
    ---------
    The event on the receipt, that of `variance`: the root is post-processing.

    Examples
    --------
    >>> import numpy as np
    >>> found = standard_deviation(np.arange(100_000) % 10, bounds=(0, 10), epsilon=1.0)
    >>> found.name, round(found.value, 1)
    ('standard deviation of value', 2.9)
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget, where)
    groups = Groups.wanted(of.data, by, edges)
    if groups is not None:
        return _grouped_roots(of, groups, population, budget, key, confidence)
    return root(released_variance(of, "standard deviation", population, budget, key, confidence))


def _grouped_roots(
    of: ColumnOf, groups: Groups, population: bool, budget: Budget, key: str | None, confidence: float
) -> Table:
    moment, title = SAMPLED_VARIANCE if population else VARIANCE, f"standard deviation of {of.column}"
    check_confidence(title, confidence)
    question = moments_of(of.data.schema, of.column, moment.degree, False)

    def estimate(released: Released) -> Estimate:
        return root(moment.estimate(of, title, released, None, confidence))

    return groups.table(title, question, estimate, budget, key)


def root(square: Estimate) -> Estimate:
    """The root of an estimate that is not negative, with the roots of its interval's ends: post-processing.

    Its standard error is that of the square over twice the root, or the root of it where that is less, as near zero.
    """
    value, error = math.sqrt(square.value), square.standard_error
    low, high = (math.sqrt(max(end, 0.0)) for end in square.interval)
    if error is not None:
        error = min(error / (2 * value) if value > 0 else math.inf, math.sqrt(error))
    return dataclasses.replace(square, value=value, standard_error=error, low=low, high=high)
