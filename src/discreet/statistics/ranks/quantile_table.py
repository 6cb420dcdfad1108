"""Private quantiles of several shares, with their intervals and their receipt."""

from __future__ import annotations

import html
from dataclasses import dataclass

from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.releases.columns import in_words
from discreet.releases.release import promise


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
