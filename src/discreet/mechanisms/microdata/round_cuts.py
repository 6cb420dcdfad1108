"""Where a column is cut: at the roundest number, or the first day of the longest period, between two values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.mechanisms.microdata.equivalence_classes import Ranked, joint_codes

Kind = Literal["number", "date", "datetime", "category"]
PERIODS = {"date": ("Y", "M"), "datetime": ("Y", "M", "D", "h", "m")}
UNITS = {"date": "D", "datetime": "s"}


@dataclass(frozen=True)
class Scale:
    """What is public about a quasi-identifier that is cut.

    Parameters
    ----------
    kind : {"number", "date", "datetime", "category"}
        Public. What its values are.
    lower, upper : float
        Public. Its bounds; of a category, the first and the last place.

    Examples
    --------
    >>> Scale("number", 0.0, 120.0).between(np.array([17.25, 37.0]), np.array([23.5, 38.0]))
    array([20., 38.])
    """

    kind: Kind
    lower: float
    upper: float

    def between(self, low: Array, high: Array) -> Array:
        """The roundest value above the first and up to the second of each two."""
        if self.kind == "category":
            return high
        return _calendar(self.kind, low, high) if self.kind in PERIODS else _decimal(low, high)

    def ranges(self, column: Ranked, low: Steps, high: Steps) -> tuple[Array, Array]:
        """The ranges between cuts, each once, and which of them each box has.

        Parameters
        ----------
        column : Ranked
            The values that occur.
        low, high : array of int64, shape (boxes, 2)
            Between which ranks each box begins and ends.

        Returns
        -------
        bounds : array of shape (ranges, 4)
            The lower bound; the upper one; whether that is inside; and whether a missing value is.
        own : array
            The range of each box; nan, where nothing but missing values are in it.
        """
        steps = np.append(column.values, np.inf)  # a missing value lies behind all others
        begins = np.where(low[:, 0] < 0, self.lower, self._cut(steps, low))
        last = high[:, 1] >= column.count
        ends = np.where(last, np.inf, self._cut(steps, high))
        rows = np.stack([begins, np.minimum(ends, self.upper), np.isinf(ends), last & column.missing], axis=1)
        parts, flags = [Ranked.of(one) for one in rows.T[:2]], rows[:, 2:].T.astype(np.int64)
        keys = joint_codes([*(part.codes for part in parts), *flags], [*(part.count for part in parts), 2, 2])
        _, first, own = np.unique(keys, return_index=True, return_inverse=True)
        bounds = rows[first]
        absent = np.isinf(bounds[:, 0])
        places = np.where(absent, np.nan, np.arange(len(bounds)))
        return bounds[~absent], places[own.reshape(-1)]

    def _cut(self, steps: Array, ranks: Steps) -> Array:
        below, above = (steps[np.clip(one, 0, len(steps) - 1)] for one in ranks.T)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(above), np.inf, self.between(below, np.where(np.isinf(above), below, above)))


def _decimal(low: Array, high: Array) -> Array:
    """A multiple of the greatest power of ten that has one; the upper end, where floats are too coarse for that."""
    with np.errstate(all="ignore"):
        power = np.floor(np.log10(high - low))
    found = high.copy()
    for more in (0, 1):
        with np.errstate(all="ignore"):
            tens, tenths = 10.0 ** np.clip(power + more, 0, 300), 10.0 ** np.clip(-power - more, 0, 300)
            rounder = np.floor(high / tens * tenths) / tenths * tens
        found = np.where((rounder > low) & (rounder <= high), rounder, found)
    return found


def _calendar(kind: str, low: Array, high: Array) -> Array:
    """The first of a year, or of a month, a day, an hour or a minute."""
    unit = UNITS[kind]
    times, found = high.astype(np.int64).astype(f"M8[{unit}]"), high.copy()
    for period in reversed(PERIODS[kind]):
        rounder = times.astype(f"M8[{period}]").astype(f"M8[{unit}]").astype(np.int64).astype(np.float64)
        found = np.where(rounder > low, rounder, found)
    return found
