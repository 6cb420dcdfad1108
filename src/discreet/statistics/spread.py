"""The private interquartile range of a column."""

from __future__ import annotations

import math
from typing import Any

from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.statistics.ask import column_of
from discreet.statistics.interval_estimate import IntervalEstimate
from discreet.statistics.noise import CONFIDENCE
from discreet.statistics.quantile import Wanted
from discreet.statistics.rank_width import Found

TOGETHER = 1 / 3  # correlation of a sample's quartiles: 1/4 * 1/4 over 1/4 * 3/4


def interquartile_range(
    data: Any,
    column: str | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    step: float | None = None,
    confidence: float | None = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> IntervalEstimate:
    """Release how far the quartiles of a column are apart.

    Parameters
    ----------
    data : PrivateData, or array of shape (n,)
        The records; missing values do not count.
    column : str, optional
        Public. The column, for private data.
    bounds : (float, float), optional
        Public. For an array: values outside are moved to the nearer one. Private data have them in their schema.
    step : float, optional
        Public. What values are multiples of; see `quantile`.
    confidence : float, optional
        Public. Of the interval for the population's interquartile range, or None for no interval; see `quantile`.
    epsilon, delta : float
        Public. What this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    IntervalEstimate
        The difference of two private quartiles, its interval and its receipt.

    Guarantee
    ---------
    The event on the receipt; see `quantile`.

    Examples
    --------
    >>> import numpy as np
    >>> round(interquartile_range(np.arange(10_000) % 100, bounds=(0, 99), step=1, epsilon=2.0).value, -1)
    50.0
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    name = f"interquartile range of {of.column}"
    paid = Wanted(of, (0.25, 0.75), confidence, step, budget).paid(name, key)
    first, third = paid.found.values.tolist()
    low, high = (None, None) if paid.found.ends is None else _interval(paid.found, paid.found.ends)
    return IntervalEstimate(name, third - first, low, high, confidence, paid.receipt, True)


def _interval(found: Found, ends: Array) -> list[float]:
    """An interval for a difference from intervals for its terms.

    Each end of the difference is as far away as the terms' own ends say, added up as correlated errors are; of these
    only sampling is correlated. (Zou and Donner 2008.)
    """
    (first, third), (first_below, third_below) = found.values, found.values - ends[0]
    first_above, third_above = ends[1] - found.values
    sampling = 1.0 if found.sampling is None else float(found.sampling.min())
    difference, together = float(third - first), 2 * TOGETHER * sampling
    below = math.sqrt(max(third_below**2 + first_above**2 - together * third_below * first_above, 0.0))
    above = math.sqrt(max(third_above**2 + first_below**2 - together * third_above * first_below, 0.0))
    return [max(difference - below, 0.0), difference + above]
