"""The private standard deviation of a column."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from discreet.core.budget import Budget
from discreet.releases.ask import column_of
from discreet.releases.estimate import Estimate
from discreet.releases.spread import CONFIDENCE
from discreet.statistics.moments.variance import released_variance
from discreet.trust.as_private import Bounds


def standard_deviation(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    population: bool = False,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Estimate:
    """Release the standard deviation of a column: the root of its private variance.

    Noise is added to the variance, never to its root: one record moves a variance by a share of about 1/n of the
    squared width of the bounds, but a standard deviation by as much as 1/sqrt(n) of the width.

    Parameters
    ----------
    data, column, bounds, population, confidence, epsilon, delta, key
        Public, except for the data. As for `variance`.

    Returns
    -------
    Estimate
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
    of = column_of(data, column, bounds, budget)
    return root(released_variance(of, "standard deviation", population, budget, key, confidence))


def root(square: Estimate) -> Estimate:
    """The root of an estimate that is not negative, with the roots of its interval's ends: post-processing.

    Its standard error is that of the square over twice the root, or the root of it where that is less, as near zero.
    """
    value, error = math.sqrt(square.value), square.standard_error
    low, high = (math.sqrt(max(end, 0.0)) for end in square.interval)
    if error is not None:
        error = min(error / (2 * value) if value > 0 else math.inf, math.sqrt(error))
    return dataclasses.replace(square, value=value, standard_error=error, low=low, high=high)
