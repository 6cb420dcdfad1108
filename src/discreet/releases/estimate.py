"""A private number with its interval and its receipt."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from discreet.core.digits import error_bar, number
from discreet.core.errors import ParameterError
from discreet.core.receipt import Receipt
from discreet.core.schema import Number
from discreet.releases.ask import Released
from discreet.releases.figure import Figure

LEAST, MOST = 0.01, 0.999999  # confidence
ROUNDS, NARROW = 3, 0.01  # of looking for an end of an interval, and what part of all it must be for a second


@dataclass(frozen=True)
class Estimate:
    """A released number.

    Parameters
    ----------
    name : str
        What it is.
    value : float
        The private value.
    error : float
        Half-width of an interval around it that holds the exact value with the given confidence, or its longer side;
        infinite, where none was asked for.
    confidence : float or None
        Of the interval.
    receipt : Receipt
        What it cost.
    standard_error : float, optional
        The standard deviation of what it is off by.
    population : bool
        Whose exact value the interval holds. If not the population's, that of these data: then it measures the privacy
        noise alone, and what a sample says of a population is another matter.
    low, high : float, optional
        The ends of the interval, where it reaches less far to one side.
    """

    name: str
    value: float
    error: float
    confidence: float | None
    receipt: Receipt
    standard_error: float | None = None
    population: bool = False
    low: float | None = None
    high: float | None = None

    @classmethod
    def between(
        cls,
        name: str,
        value: float,
        low: float | None,
        high: float | None,
        confidence: float | None,
        receipt: Receipt,
        population: bool = False,
    ) -> Estimate:
        """A number with an interval from `low` to `high`; without one, where they are None."""
        error = math.inf if low is None or high is None else max(value - low, high - value)
        return cls(name, value, error, confidence, receipt, None, population, low, high)

    @property
    def interval(self) -> tuple[float, float]:
        """The interval's ends; infinite, where none was asked for."""
        return (
            self.value - self.error if self.low is None else self.low,
            self.value + self.error if self.high is None else self.high,
        )

    @property
    def promise(self) -> str:
        """What the interval holds, in words; nothing, if there is none."""
        return promise(self.confidence, self.population)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.confidence is not None and (self.low is None or self.high is None):
            return f"{self.name}: {number(self.value, self.error)} ± {error_bar(self.error)}{self.promise}"
        return f"{self.name}: {in_words(self.value, self.low, self.high)}{self.promise}"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(str(self))}</b>{self.receipt._repr_html_()}"


def in_words(value: float, low: float | None, high: float | None) -> str:
    """A value and its interval, cut where the interval makes digits worthless.

    Examples
    --------
    >>> in_words(3.14159, 3.1, 3.25), in_words(2.5, None, None)
    ('3.142 [3.100, 3.250]', '2.5')
    """
    if low is None or high is None:
        return number(value, 0.0)
    texts = [number(end, (high - low) / 2) for end in (value, low, high)]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]"


def promise(confidence: float | None, population: bool) -> str:
    """What an interval holds, in brackets; nothing, if there is none.

    Examples
    --------
    >>> promise(0.95, True)
    ' (95% for the population)'
    """
    whose = "the population" if population else "these data"
    return "" if confidence is None else f" ({100 * confidence:.10g}% for {whose})"


def estimate_of(name: str, figure: Figure, released: Released, confidence: float, ends: Number) -> Estimate:
    """The estimate that a figure makes of a number between these ends: post-processing."""

    def half_width(wanted: float, supposed: float) -> float:
        return figure.supposed(supposed).half_width(released.spread, wanted)

    low, high = interval_inside(figure.value, half_width, confidence, ends, ROUNDS if figure.bend else 1)
    even = math.isclose(figure.value - low, high - figure.value, rel_tol=1e-9)
    return Estimate(
        name,
        figure.value,
        max(figure.value - low, high - figure.value),
        confidence,
        released.receipt,
        figure.standard_error(released.spread),
        figure.sampling is not None,
        None if even else low,
        None if even else high,
    )


def interval_inside(
    value: float, half_width: Callable[[float, float], float], confidence: float, ends: Number, rounds: int = 1
) -> tuple[float, float]:
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
        How far noise throws it, with a given confidence and if the exact value is supposed to be a given one.
    confidence : float
        Public. Of the interval.
    ends : Number
        Public. Between which the exact value lies.
    rounds : int
        How often an end is looked for again, since the noise depends on it.

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
    for _ in range(rounds):
        low = value - reach(low, max(value - ends.lower, 0.0))
        high = value + reach(high, max(ends.upper - value, 0.0))
        if high - low <= NARROW * (ends.upper - ends.lower):
            break
    return low, high


def check_confidence(asked: str, confidence: float) -> None:
    """Refuse a confidence that no interval has, or none worth having."""
    if not (isinstance(confidence, Real) and LEAST <= confidence <= MOST):
        raise ParameterError(
            asked,
            f"the confidence is {confidence}",
            f"Give one between {LEAST} and {MOST}, such as 0.95.",
            confidence=confidence,
        )
