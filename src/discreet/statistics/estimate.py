"""A private number with its error bar and its receipt."""

from __future__ import annotations

import html
from dataclasses import dataclass

from discreet.core.digits import error_bar, number
from discreet.core.receipt import Receipt


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
        Half-width of an interval that holds the exact value of these data with the given confidence. It measures the
        privacy noise; what a sample says of a population is another matter.
    confidence : float
        Of the interval.
    receipt : Receipt
        What it cost.
    """

    name: str
    value: float
    error: float
    confidence: float
    receipt: Receipt

    @property
    def interval(self) -> tuple[float, float]:
        """The error bar's ends."""
        return self.value - self.error, self.value + self.error

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.name}: {number(self.value, self.error)} ± {error_bar(self.error)} ({self.confidence:.0%})"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(str(self))}</b>{self.receipt._repr_html_()}"
