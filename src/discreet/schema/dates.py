"""Columns of dates and times, which are numbers: whole days or seconds since 1970, in UTC.

A value is a date or a time where its text is (see `value`): `2020-12-31`, or that with a time behind `T` or a blank,
`2020-12-31 23:59`, with seconds, fractions of them and a time zone or without. One without a zone is in UTC. All else
is missing, also numbers.
"""

from __future__ import annotations

import datetime
import math
import re
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import SchemaError
from discreet.core.grid import Array
from discreet.schema.schema import Number
from discreet.schema.value import text_of

WRITTEN = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
EPOCH = datetime.datetime(1970, 1, 1)
SECOND = datetime.timedelta(seconds=1)
FIRST, LAST = (np.datetime64(text, "us") for text in ("0001-01-01", "9999-12-31T23:59:59.999999"))


def seconds_of(text: str | None) -> float:
    """The whole seconds from 1970 to the time of a text, nan where it is none.

    Examples
    --------
    >>> [seconds_of(text) for text in ("1970-01-02", "1970-01-01T01:00+01:00", "1969-12-31 23:59:59.5", "2020-13-01")]
    [86400.0, 0.0, -1.0, nan]
    """
    if text is None or WRITTEN.fullmatch(text) is None:
        return math.nan
    try:
        time = datetime.datetime.fromisoformat(text)
        return float((time.replace(tzinfo=None) - (time.utcoffset() or datetime.timedelta()) - EPOCH) // SECOND)
    except (ValueError, OverflowError):
        return math.nan


class Temporal(Number):
    """A column of times, kept as a whole number of `seconds` each; see `Date` and `Datetime`."""

    seconds: ClassVar[int]
    unit: ClassVar[str]

    def __init__(self, lower: Any, upper: Any) -> None:
        ends = [self.count(seconds_of(text_of(end))) for end in (lower, upper)]
        if math.isnan(sum(ends)):
            obstacle = f"its bounds are {lower!r:.40} and {upper!r:.40}"
            kind = type(self).__name__
            raise SchemaError(kind.lower(), obstacle, f'Give two dates or texts: {kind}("2020-01-01", "2024-12-31").')
        super().__init__(ends[0], ends[1], 1)

    @classmethod
    def count(cls, seconds: float) -> float:
        """The number that stands for a time."""
        return seconds // cls.seconds

    @classmethod
    def counts(cls, times: Any) -> Array:
        """The numbers that stand for an array of times of numpy, nan where there is none."""
        exact = times.astype("M8[us]")
        there = (exact >= FIRST) & (exact <= LAST)
        found = exact.astype(np.int64) // (1_000_000 * cls.seconds)
        return np.where(there, found.astype(np.float64), np.nan)

    @abstractmethod
    def shown(self, value: float) -> str:
        """The time that a number stands for."""

    @property
    def described(self) -> str:
        return f"{self.shown(self.lower)} to {self.shown(self.upper)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown(self.lower)!r}, {self.shown(self.upper)!r})"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return type(self), (self.shown(self.lower), self.shown(self.upper))


class Date(Temporal):
    """A column of dates, kept as days since 1970; a time in it is its day in UTC.

    Parameters
    ----------
    lower, upper : datetime.date or str
        Public. Dates outside are moved to the nearer bound; what is no date counts as missing.

    Examples
    --------
    >>> column = Date("2020-01-01", "2024-12-31")
    >>> column.lower, column.shown(18263.5), column
    (18262.0, '2020-01-02', Date('2020-01-01', '2024-12-31'))
    """

    seconds = 86400
    unit = "days"

    def shown(self, value: float) -> str:
        """The date that a number stands for."""
        return _written(math.floor(value) * self.seconds)[:10]


class Datetime(Temporal):
    """A column of times, kept as seconds since 1970, in UTC.

    Parameters
    ----------
    lower, upper : datetime.datetime or str
        Public. Times outside are moved to the nearer bound; what is no time counts as missing.

    Examples
    --------
    >>> column = Datetime("2020-01-01", "2020-12-31 23:59")
    >>> column.shown(column.upper), column.unit
    ('2020-12-31T23:59:00', 'seconds')
    """

    seconds = 1
    unit = "seconds"

    def shown(self, value: float) -> str:
        """The time that a number stands for, to the second."""
        return _written(math.floor(value))


def _written(seconds: float) -> str:
    """A time as text; the first or the last one that has one, beyond them."""
    first, last = (datetime.datetime.min - EPOCH) // SECOND, (datetime.datetime.max - EPOCH) // SECOND
    return (EPOCH + min(max(int(seconds), first), last) * SECOND).isoformat()
