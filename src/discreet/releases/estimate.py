"""A private number with its interval and its receipt."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.receipt import Receipt
from discreet.releases.ask import Released
from discreet.releases.columns import Columns, ConfidenceInterval, Series
from discreet.releases.drawing import draw_points
from discreet.releases.figure import Figure
from discreet.releases.release import LEAST, Release
from discreet.schema.dates import Temporal
from discreet.schema.schema import Number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENDLESS = Number(-sys.float_info.max / 4, sys.float_info.max / 4)
ITERATIONS, NARROW = 3, 0.01  # to find the end of an interval, and the part of all that it must be for a second one


@dataclass(frozen=True, kw_only=True)
class Estimate(Release):
    """A released number.

    Parameters
    ----------
    value : float
        The private value.
    standard_error : float, optional
        The standard deviation of its error, where it is known.
    low, high : float, optional
        The ends of an interval that holds the exact value with the given confidence.
    kind : Date or Datetime, optional
        What the number stands for, where it is a time: it is printed as one.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> from discreet.core.neighbors import RECORD, Neighbors
    >>> receipt = Receipt("example", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
    >>> age = Estimate.around("mean of age", 40.0, 0.5, confidence=0.95, receipt=receipt)
    >>> print(age)
    mean of age: 40.00 ± 0.50 (95% for these data)
    >>> age.interval, float(age)
    (ConfidenceInterval(low=39.5, high=40.5), 40.0)
    """

    value: float
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    kind: Temporal | None = None

    @classmethod
    def around(
        cls,
        name: str,
        value: float,
        half_width: float,
        *,
        confidence: float,
        receipt: Receipt,
        standard_error: float | None = None,
        population: bool = False,
        kind: Temporal | None = None,
    ) -> Estimate:
        """A number with an interval that reaches equally far to both sides."""
        return Estimate(
            name=name,
            value=value,
            standard_error=standard_error,
            low=value - half_width,
            high=value + half_width,
            confidence=confidence,
            population=population,
            receipt=receipt,
            kind=kind,
        )

    @property
    def interval(self) -> ConfidenceInterval[float]:
        """The interval's ends; infinite, where there is none."""
        return ConfidenceInterval(
            -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        )

    @property
    def half_width(self) -> float:
        """How far the interval reaches, to the farther side."""
        low, high = self.interval
        return max(self.value - low, high - self.value)

    def __float__(self) -> float:
        return self.value

    def tabulated(self) -> Columns:
        """The value with its errors, in one row."""
        errors = (None if one is None else np.array([one]) for one in (self.standard_error, self.low, self.high))
        return Columns({}, (Series("value", np.array([self.value]), *errors, kind=self.kind),))

    def draw(self, ax: Axes) -> None:
        """A point with its interval."""
        draw_points(ax, [self.name], self.tabulated().series[0])


def estimate_of(name: str, figure: Figure, released: Released, confidence: float, ends: Number = ENDLESS) -> Estimate:
    """The estimate that a figure makes of a number, which may lie between two ends: post-processing."""
    known: dict[tuple[float, float], float] = {}

    def half_width(wanted: float, supposed: float) -> float:
        if (wanted, supposed) not in known:
            known[wanted, supposed] = figure.supposed(supposed).half_width(released.spread, wanted)
        return known[wanted, supposed]

    low, high = interval_inside(figure.value, half_width, confidence, ends, ITERATIONS if figure.bend else 1)
    return Estimate(
        name=name,
        value=figure.value,
        standard_error=figure.standard_error(released.spread),
        low=low,
        high=high,
        confidence=confidence,
        population=figure.sampling is not None,
        receipt=released.receipt,
        kind=ends if isinstance(ends, Temporal) else None,
    )


def interval_inside(
    value: float, half_width: Callable[[float, float], float], confidence: float, ends: Number, max_iter: int = 1
) -> ConfidenceInterval[float]:
    """An interval for a number between two ends, from an estimate that is moved to the nearer one if it is beyond.

    Let noise exceed h with probability 1 - confidence on both sides together, and g on one of them. Take an exact value
    m above the lower end. Since no estimate is below that end, those above m + g are as many as may be left out, if m
    is at most g; those above 2 m are fewer, if m is between g and h; else it is those farther away than h. So an
    estimate that is d above the end reaches down by g, or by d / 2, or by h, whichever is in the middle, but not beyond
    the end. Upwards it is the same. That covers as often as it says; or more often, where h is about half the distance
    between the ends: then noise hides the number.

    Parameters
    ----------
    value : float
        The estimate.
    half_width : callable
        How far noise moves it, with a given confidence and if the exact value is a given one.
    confidence : float
        Public. Of the interval.
    ends : Number
        Public. Between which the exact value lies.
    max_iter : int
        How often an end is found again, since the noise depends on it.

    Examples
    --------
    >>> def laplace(confidence, supposed):
    ...     return -math.log(1 - confidence)
    >>> ends = (interval_inside(value, laplace, 0.95, Number(0, 100)) for value in (4.0, 5.0, 50.0))
    >>> [tuple(round(end, 2) for end in both) for both in ends]
    [(1.7, 7.0), (2.5, 8.0), (47.0, 53.0)]
    """

    def reach(supposed: float, room: float) -> float:
        half = half_width(confidence, supposed)
        if 2 * half <= room:
            return half
        side = half_width(2 * confidence - 1, supposed) if 2 * confidence - 1 >= LEAST else 0.0
        return min(room, max(side, min(room / 2, half)))

    low = high = value
    for _ in range(max_iter):
        low = value - reach(low, max(value - ends.lower, 0.0))
        high = value + reach(high, max(ends.upper - value, 0.0))
        if high - low <= NARROW * (ends.upper - ends.lower):
            break
    return ConfidenceInterval(low, high)
