"""Statistics of groups as functions, for `aggregate`: `count()`, `mean("stay")`, `quantile("stay", 0.9)`.

Each says which statistic is meant, and asks nothing. What it releases is what the function of the same name in
`discreet` does, with the same options.

>>> from discreet.query.aggregates import count, mean, quantile
>>> count().words, mean("stay").words, quantile("stay", 0.9).words
('count', 'mean of stay', 'quantile of stay q=0.9')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import discreet
from discreet.query.words import StatisticQuestion, statistic_asked

ASKED = "aggregate"


def count(column: str | None = None, **options: Any) -> StatisticQuestion:
    """The number of records, or of those that have a value."""
    return _asked(discreet.count, [] if column is None else [column], options)


def count_distinct(column: str, **options: Any) -> StatisticQuestion:
    """The number of different values."""
    return _asked(discreet.count_distinct, [column], options)


def total(column: str, **options: Any) -> StatisticQuestion:
    """The sum of the values."""
    return _asked(discreet.total, [column], options)


def mean(column: str, **options: Any) -> StatisticQuestion:
    """The mean of the values."""
    return _asked(discreet.mean, [column], options)


def variance(column: str, **options: Any) -> StatisticQuestion:
    """Their variance; with `ddof=1`, divided by their number less one."""
    return _asked(discreet.variance, [column], options)


def standard_deviation(column: str, **options: Any) -> StatisticQuestion:
    """The root of their variance; `ddof` as there."""
    return _asked(discreet.standard_deviation, [column], options)


def minimum(column: str, **options: Any) -> StatisticQuestion:
    """About the least of the values."""
    return _asked(discreet.minimum, [column], options)


def maximum(column: str, **options: Any) -> StatisticQuestion:
    """About the greatest of the values."""
    return _asked(discreet.maximum, [column], options)


def median(column: str, **options: Any) -> StatisticQuestion:
    """The value in the middle."""
    return _asked(discreet.median, [column], options)


def quantile(column: str, q: float, **options: Any) -> StatisticQuestion:
    """The value that a share q of them is below."""
    return _asked(discreet.quantile, [column], {"q": q, **options})


def covariance(first: str, second: str, **options: Any) -> StatisticQuestion:
    """How two columns vary together."""
    return _asked(discreet.covariance, [first, second], options)


def correlation(first: str, second: str, **options: Any) -> StatisticQuestion:
    """The same, as a share of how much each varies."""
    return _asked(discreet.correlation, [first, second], options)


def _asked(function: Callable[..., Any], columns: list[str], options: dict[str, Any]) -> StatisticQuestion:
    return statistic_asked(ASKED, function, columns, options)
