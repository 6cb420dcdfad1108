"""A private number with its error bar and its receipt."""

from __future__ import annotations

import html
from dataclasses import dataclass
from numbers import Real

from discreet.core.digits import error_bar, number
from discreet.core.errors import ParameterError
from discreet.core.receipt import Receipt
from discreet.statistics.ask import Released
from discreet.statistics.figure import Figure

LEAST, MOST = 0.01, 0.999999  # confidence


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
        Half-width of an interval around it that holds the exact value with the given confidence.
    confidence : float
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
    confidence: float
    receipt: Receipt
    standard_error: float | None = None
    population: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval's ends."""
        return (
            self.value - self.error if self.low is None else self.low,
            self.value + self.error if self.high is None else self.high,
        )

    @property
    def promise(self) -> str:
        """What the interval holds, in words."""
        return f"{100 * self.confidence:.10g}% for {'the population' if self.population else 'these data'}"

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.name}: {number(self.value, self.error)} ± {error_bar(self.error)} ({self.promise})"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(str(self))}</b>{self.receipt._repr_html_()}"


def estimate_of(name: str, figure: Figure, released: Released, confidence: float, most: float) -> Estimate:
    """The estimate that a figure makes, which cannot be off by more than `most`: post-processing."""
    return Estimate(
        name,
        figure.value,
        min(figure.half_width(released.spread, confidence), most),
        confidence,
        released.receipt,
        figure.standard_error(released.spread),
        figure.sampling is not None,
    )


def check_confidence(asked: str, confidence: float) -> None:
    """Refuse a confidence that no interval has, or none worth having."""
    if not (isinstance(confidence, Real) and LEAST <= confidence <= MOST):
        raise ParameterError(
            asked,
            f"the confidence is {confidence}",
            f"Give one between {LEAST} and {MOST}, such as 0.95.",
            confidence=confidence,
        )
