"""Hierarchies: how the values of a column are made coarser, level by level, for all records alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from discreet.core.grid import Array

Period = Literal["hour", "day", "month", "quarter", "year", "decade"]
DAYS: dict[Period, float] = {
    "hour": 1 / 24,
    "day": 1.0,
    "month": 30.436875,
    "quarter": 91.310625,
    "year": 365.2425,
    "decade": 3652.425,
}
NEAR = 4  # floats from a multiple of a width: it is one, but for rounding


class GeneralizationLevels(Protocol):
    """What a column becomes on each level: the first is the column as it is, on the last all values are one."""

    @property
    def losses(self) -> tuple[float, ...]:
        """What each level loses, from 0 to 1: the share of all other values that a value is merged with."""

    def coarse(self, values: Array, level: int) -> Array:
        """Values on a level that is neither the first nor the last, as numbers; nan where one is missing."""


def on_level(levels: GeneralizationLevels, values: Array, level: int) -> Array:
    """Values on any level; a missing value is one of its own on all but the last.

    Examples
    --------
    >>> ages = IntervalLevels(0.0, 120.0, (5.0, 20.0))
    >>> [on_level(ages, np.array([17.0, 39.0, np.nan]), level).tolist() for level in range(4)]
    [[17.0, 39.0, nan], [3.0, 7.0, nan], [0.0, 1.0, nan], [0.0, 0.0, 0.0]]
    """
    if level == 0:
        return values
    return np.zeros(len(values)) if level == len(levels.losses) - 1 else levels.coarse(values, level)


@dataclass(frozen=True)
class IntervalLevels:
    """Numbers in intervals that begin at multiples of a width, each width a multiple of the one before.

    Parameters
    ----------
    lower, upper : float
        Public. The bounds of the column.
    widths : tuple of float
        Public. Ascending.

    Examples
    --------
    >>> [round(loss, 3) for loss in IntervalLevels(0.0, 120.0, (5.0, 20.0)).losses]
    [0.0, 0.042, 0.167, 1.0]
    """

    lower: float
    upper: float
    widths: tuple[float, ...] = ()

    @property
    def losses(self) -> tuple[float, ...]:
        """The width over the distance of the bounds."""
        return 0.0, *(min(width / (self.upper - self.lower), 1.0) for width in self.widths), 1.0

    def coarse(self, values: Array, level: int) -> Array:
        """Which multiple of the width an interval begins at; by that of the first width, so that levels nest."""
        exact = values / self.widths[0]
        nearest = np.round(exact)
        close = np.abs(exact - nearest) <= NEAR * np.spacing(np.abs(exact))
        first = np.where(close, nearest, np.floor(exact))
        return np.asarray(np.floor(first / round(self.widths[level - 1] / self.widths[0])))


@dataclass(frozen=True)
class CalendarLevels:
    """Days or seconds in periods of the calendar.

    Parameters
    ----------
    lower, upper : float
        Public. The bounds of the column.
    seconds : int
        Public. What one step of the column is.
    periods : tuple of str
        Public. From short to long ones.

    Examples
    --------
    >>> CalendarLevels(0.0, 20000.0, 86400, ("month", "year")).coarse(np.array([0.0, 400.0, np.nan]), 2)
    array([ 0.,  1., nan])
    """

    lower: float
    upper: float
    seconds: int
    periods: tuple[Period, ...] = ()

    @property
    def losses(self) -> tuple[float, ...]:
        """The length of a period over the distance of the bounds."""
        days = (self.upper - self.lower) * self.seconds / 86400
        return 0.0, *(min(DAYS[period] / days, 1.0) for period in self.periods), 1.0

    def coarse(self, values: Array, level: int) -> Array:
        """How many periods lie between 1970 and a time; of decades, between the year 0 and it."""
        missing, period = np.isnan(values), self.periods[level - 1]
        times = (np.where(missing, 0, values).astype(np.int64) * self.seconds).astype("M8[s]")
        if period in ("hour", "day"):
            found = times.astype("M8[h]" if period == "hour" else "M8[D]").astype(np.int64)
        else:
            months = times.astype("M8[M]").astype(np.int64)
            found = {"month": months, "quarter": months // 3, "year": months // 12}.get(
                period, (months // 12 + 1970) // 10
            )
        return np.where(missing, np.nan, found.astype(np.float64))


@dataclass(frozen=True)
class ListedLevels:
    """Listed values in groups, each group inside one of the next level.

    Parameters
    ----------
    size : int
        Public. How many values are listed.
    groups : tuple of tuples of int
        Public. The group of each listed value, level by level.
    names : tuple of tuples of str
        Public. Of these groups.

    Examples
    --------
    >>> ListedLevels(4, ((0, 0, 0, 1),), (("north", "south"),)).losses
    (0.0, 0.5, 1.0)
    """

    size: int
    groups: tuple[tuple[int, ...], ...] = ()
    names: tuple[tuple[str, ...], ...] = ()

    @property
    def losses(self) -> tuple[float, ...]:
        """The mean over listed values of the share of others that are in the same group (Iyengar 2002)."""
        counts = [np.bincount(own)[list(own)] for own in self.groups]
        return 0.0, *(float(np.mean(count - 1) / max(self.size - 1, 1)) for count in counts), 1.0

    def coarse(self, values: Array, level: int) -> Array:
        """The group of each place in the list."""
        groups = np.append(np.array(self.groups[level - 1], np.float64), np.nan)
        return np.asarray(groups[np.where(np.isnan(values), self.size, values).astype(np.int64)])
