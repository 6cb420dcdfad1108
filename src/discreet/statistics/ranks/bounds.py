"""Bounds of a column, bought: for a schema whose author does not know them."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.digits import exact
from discreet.core.receipt import Receipt
from discreet.core.schema import Number
from discreet.questions.magnitudes import magnitude_edges, magnitudes_of
from discreet.releases.ask import asked, column_of
from discreet.releases.spread import CONFIDENCE, whole_half_width
from discreet.trust.as_private import Bounds
from discreet.trust.private_data import PrivateData

OCTAVES = 100  # between the greatest size and the least that is told from zero, where nothing else is said
WIDEST = (-1e15, 1e15)
RISK = 0.01  # that noise alone fills a cell


@dataclass(frozen=True)
class FoundBounds:
    """Bounds that were found in private, to be written into a schema.

    Parameters
    ----------
    column : str
        The column.
    lower, upper : float
        The bounds; those of the schema, where there are too few records to tell.
    outside : float
        About how many values are outside, and would be moved to the nearer bound.
    error : float
        Half-width of an interval that holds the exact number outside with the given confidence. Mostly next to none are
        outside, and a number that noise would make negative is raised to zero: then it misses on one side alone.
    confidence : float
        Of that interval.
    receipt : Receipt
        What it cost.
    """

    column: str
    lower: float
    upper: float
    outside: float
    error: float
    confidence: float
    receipt: Receipt

    @property
    def number(self) -> Number:
        """The column with these bounds, for a schema."""
        return Number(self.lower, self.upper)

    def __str__(self) -> str:
        ends = f"{exact(self.lower)} to {exact(self.upper)}"
        return (
            f"bounds of {self.column}: {ends}; outside {self.outside:,.0f} ± {self.error:.0f} ({self.confidence:.0%})"
        )

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(str(self))}</b>{self.receipt._repr_html_()}"


def bounds(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    least: float | None = None,
    epsilon: float = 0.1,
    delta: float = 0.0,
    key: str | None = None,
) -> FoundBounds:
    """Find bounds that hold nearly all values of a column, from bounds that are far too wide.

    Values are counted by sign and size, from one power of two to the next, with noise. The bounds are the ends of the
    outermost cells whose count is too high for noise alone, but for one case in a hundred.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records; missing values do not count.
    column : str, optional
        Public. The column, for private data: its schema may have bounds as wide as anybody can think of.
    bounds : (float, float) or Schema, optional
        Public. For an array or data frame: values outside are moved to the nearer one; -1e15 and 1e15 where not given.
    least : float, optional
        Public. The least size that is told from zero; 2**-100 times the greatest where not given.
    epsilon, delta : float
        Public. What this may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    FoundBounds
        Two bounds, zero or a power of two times the least size, within a factor of two of where many values end.

    Guarantee
    ---------
    The event on the receipt, one `Laplace`, `DiscreteLaplace` or `Gaussian` release of all cells together: a record is
    in one cell only.

    Examples
    --------
    >>> incomes = np.random.default_rng(0).lognormal(10, 0.5, 20_000)
    >>> found = bounds(incomes, bounds=(0, 2.0**50), least=1.0, epsilon=0.5)
    >>> bool(found.lower <= 8192 and found.number.upper >= 65536)
    True
    """
    budget = Budget(epsilon, delta)
    wide = WIDEST if bounds is None and not isinstance(data, PrivateData) else bounds
    of = column_of(data, column, wide, budget)
    number, name = of.data.schema.number(of.column), f"bounds of {of.column}"
    largest = max(abs(number.lower), abs(number.upper))
    smallest = largest * 2.0**-OCTAVES if least is None else float(least)
    edges = magnitude_edges(number, smallest)
    question = magnitudes_of(of.data.schema, of.column, smallest)
    released = asked(of.data, question, budget, name, key)
    noise = released.spread.half_width([1.0], 1 - 2 * RISK / (len(edges) - 1))
    full = np.flatnonzero(released.values > noise)
    first, last = (int(full[0]), int(full[-1])) if len(full) else (0, len(edges) - 2)
    beyond = np.ones(len(edges) - 1)
    beyond[first : last + 1] = 0.0
    outside = max(0.0, float(released.values @ beyond))
    error = whole_half_width(released.spread, beyond, CONFIDENCE)
    lower, upper = float(edges[first]), float(edges[last + 1])
    return FoundBounds(of.column, lower, upper, outside, error, CONFIDENCE, released.receipt)
