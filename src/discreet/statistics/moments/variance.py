"""The private variance and standard deviation of a column."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Unpack, overload

from discreet.core.checks import check_one_of
from discreet.releases.ask import ColumnOf, OneSum
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.releases.table import Table
from discreet.statistics.moments.column_moments import SAMPLED_VARIANCE, VARIANCE, VARIANCE_OF_A_SAMPLE
from discreet.statistics.moments.squared_deviations import centre_share, squared_deviations

LARGEST = 0.2  # share of the budget that a centre is worth, measured at every mean


@overload
def variance(
    data: Any, column: str | None = None, *, by: None = None, ddof: int = 0, **options: Unpack[Options]
) -> Estimate: ...
@overload
def variance(data: Any, column: str | None = None, *, by: By, ddof: int = 0, **options: Unpack[Options]) -> Table: ...
@statistic()
def variance(
    of: ColumnOf, *, confidence: float = CONFIDENCE, population: bool = False, ddof: int = 0
) -> OneSum[Estimate] | Estimate:
    """Release the variance of a column.

    Parameters
    ----------
    ddof : {0, 1}
        Public. By how much the number of values is lessened before the sum of squares is divided by it, as in numpy:
        1 for what SQL and pandas call the variance. It is still one of these data, unless it is of a population, where
        it makes no difference.
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
    return asked_variance(of, "variance", confidence, population, ddof)


def asked_variance(
    of: ColumnOf, name: str, confidence: float, population: bool, ddof: int
) -> OneSum[Estimate] | Estimate:
    """The variance of a column, from whichever release has less noise: what decides is public."""
    check_one_of(name, "ddof", ddof, (0, 1))
    size, budget = of.size, of.budget
    if size is None or centre_share(of, size, budget) > LARGEST:
        moment = SAMPLED_VARIANCE if population else VARIANCE_OF_A_SAMPLE if ddof else VARIANCE
        return moment.asked(of, name, confidence)
    title, number = f"{name} of {of.column}", of.schema.number(of.column)
    found = squared_deviations(of, size, 2 if population else 1, title, budget, of.key)
    most, factor = (number.upper - number.lower) ** 2 / 4, size / (size - 1) if population or ddof else 1.0
    return Estimate.around(
        title,
        min(max(found.variance, 0.0), most) * factor,
        min(found.half_width(confidence), most) * (factor if ddof else 1.0),
        standard_error=found.law.deviation * (factor if ddof else 1.0),
        confidence=confidence,
        population=population,
        receipt=found.receipt,
    )


@overload
def standard_deviation(
    data: Any, column: str | None = None, *, by: None = None, ddof: int = 0, **options: Unpack[Options]
) -> Estimate: ...
@overload
def standard_deviation(
    data: Any, column: str | None = None, *, by: By, ddof: int = 0, **options: Unpack[Options]
) -> Table: ...
@statistic(like=variance)
def standard_deviation(
    of: ColumnOf, *, confidence: float = CONFIDENCE, population: bool = False, ddof: int = 0
) -> OneSum[Estimate] | Estimate:
    """Release the standard deviation of a column: the root of its private variance.

    Noise is added to the variance, never to its root: one record moves a variance by a share of about 1/n of the
    squared width of the bounds, but a standard deviation by as much as 1/sqrt(n) of the width.

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
    square = asked_variance(of, "standard deviation", confidence, population, ddof)
    if isinstance(square, Estimate):
        return root(square)
    return dataclasses.replace(square, read=lambda released: root(square.read(released)))


def root(square: Estimate) -> Estimate:
    """The root of an estimate that is not negative, with the roots of its interval's ends: post-processing.

    Its standard error is that of the square over twice the root, or the root of it where that is less, as near zero.
    """
    value, error = math.sqrt(square.value), square.standard_error
    low, high = (math.sqrt(max(end, 0.0)) for end in square.interval)
    if error is not None:
        error = min(error / (2 * value) if value > 0 else math.inf, math.sqrt(error))
    return dataclasses.replace(square, value=value, standard_error=error, low=low, high=high)
