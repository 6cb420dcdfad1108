"""Private numbers with intervals that need not be symmetric, and their receipt."""

from __future__ import annotations

import html
from dataclasses import dataclass

from discreet.core.digits import number
from discreet.core.grid import Array
from discreet.core.receipt import Receipt


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


@dataclass(frozen=True)
class IntervalEstimate:
    """A released number.

    Parameters
    ----------
    name : str
        What it is.
    value : float
        The private value.
    low, high : float or None
        The ends of an interval that holds the exact value with the given confidence. None, where none was asked for.
    confidence : float or None
        Of the interval.
    receipt : Receipt
        What it cost.
    population : bool
        Whose exact value the interval holds: the population's that these data are a sample of, or that of these data.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    confidence: float | None
    receipt: Receipt
    population: bool = False

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval's ends."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.name}: {in_words(self.value, self.low, self.high)}{promise(self.confidence, self.population)}"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(str(self))}</b>{self.receipt._repr_html_()}"


@dataclass(frozen=True)
class QuantileTable:
    """Released quantiles of several shares.

    Parameters
    ----------
    column : str
        The column.
    shares : tuple of float
        The shares, in the order in which they were asked for.
    values : array
        A value for each.
    low, high : array or None
        The ends of intervals, each of which holds the quantile of the population with the given confidence.
    confidence : float or None
        Of each interval.
    receipt : Receipt
        What all of it cost.
    """

    column: str
    shares: tuple[float, ...]
    values: Array
    low: Array | None
    high: Array | None
    confidence: float | None
    receipt: Receipt

    def rows(self) -> list[tuple[str, str]]:
        """Share, and value with interval, for a reader."""
        lows = [None] * len(self.shares) if self.low is None else self.low.tolist()
        highs = [None] * len(self.shares) if self.high is None else self.high.tolist()
        found = zip(self.shares, self.values.tolist(), lows, highs, strict=True)
        return [(f"{share:.4g}", in_words(value, low, high)) for share, value, low, high in found]

    def __str__(self) -> str:
        width = max(len(share) for share, _ in self.rows())
        lines = (f"{share:>{width}}  {text}" for share, text in self.rows())
        return "\n".join([f"quantiles of {self.column}{promise(self.confidence, True)}", *lines])

    def _repr_html_(self) -> str:
        body = "".join(f"<tr><th>{share}</th><td>{html.escape(text)}</td></tr>" for share, text in self.rows())
        title = html.escape(str(self).splitlines()[0])
        return f"<b>{title}</b><table class='discreet-quantiles'>{body}</table>{self.receipt._repr_html_()}"
