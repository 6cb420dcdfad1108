"""Bounds of a column, bought: for a schema whose author does not know them."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, overload

import numpy as np

from discreet.core.grid import Array
from discreet.questions.columns.column_cells import magnitude_edges, magnitudes_of
from discreet.releases.ask import ColumnOf, OneSum, Released
from discreet.releases.columns import Columns, Series
from discreet.releases.declaration import Refusal
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By, GroupedResults
from discreet.releases.release import Release
from discreet.releases.spread import CONFIDENCE, whole_half_width
from discreet.releases.statistic import Options, statistic
from discreet.schema.schema import Number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OCTAVES = 100  # between the greatest size and the least that is distinguished from zero, by default
WIDEST = (-1e15, 1e15)
RISK = 0.01  # that noise alone fills a cell


@dataclass(frozen=True, kw_only=True)
class FoundBounds(Release):
    """Bounds that were found in private, to be written into a schema.

    Parameters
    ----------
    lower, upper : float
        The bounds; those of the schema, where there are too few records to find others.
    outside : Estimate
        How many values are outside, and would be moved to the nearer bound. Mostly next to none are, and a number that
        noise would make negative is raised to zero: then its interval misses on one side alone.
    """

    lower: float
    upper: float
    outside: Estimate

    standard_error: ClassVar[None] = None  # bounds are a choice, which has no error
    interval: ClassVar[None] = None

    @property
    def values(self) -> Array:
        return np.array([self.lower, self.upper])

    @property
    def number(self) -> Number:
        """The column with these bounds, for a schema."""
        return Number(self.lower, self.upper)

    def tabulated(self) -> Columns:
        """The bounds, and how many values are outside, in one row."""
        bounds = (Series(name, np.array([end])) for name, end in (("lower", self.lower), ("upper", self.upper)))
        (outside,) = self.outside.tabulated().series
        return Columns({}, (*bounds, dataclasses.replace(outside, name="outside")))

    def draw(self, ax: Axes) -> None:
        """The bounds, on a line."""
        ax.plot(self.values, np.zeros(2), marker="|", markersize=20)
        ax.set_yticks([])
        ax.set_xlabel(self.name)


@overload
def bounds(
    data: Any, column: str | None = None, *, by: None = None, least: float | None = None, **options: Unpack[Options]
) -> FoundBounds: ...
@overload
def bounds(
    data: Any, column: str | None = None, *, by: By, least: float | None = None, **options: Unpack[Options]
) -> GroupedResults[FoundBounds]: ...
@statistic(
    epsilon=0.1,
    bounds=WIDEST,
    no_population=Refusal("bounds are chosen for these data", "Ask for quantiles with population=True."),
)
def bounds(of: ColumnOf, *, least: float | None = None, confidence: float = CONFIDENCE) -> OneSum[FoundBounds]:
    """Find bounds that hold nearly all values of a column, from bounds that are far too wide.

    Values are counted by sign and size, from one power of two to the next, with noise. The bounds are the ends of the
    outermost cells whose count is too high for noise alone, except in one case of a hundred.

    Parameters
    ----------
    column : str, optional
        Public. The column, for private data: its schema may have bounds as wide as anybody can think of.
    bounds : (float, float) or Schema, optional
        Public. For an array or data frame: values outside are moved to the nearer one; -1e15 and 1e15 where not given.
    least : float, optional
        Public. The least size that is distinguished from zero; 2**-100 times the greatest where not given.
    confidence : float
        Public. Of the interval for the number of values outside.

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
    number = of.schema.number(of.column)
    largest = max(abs(number.lower), abs(number.upper))
    smallest = largest * 2.0**-OCTAVES if least is None else float(least)
    edges = magnitude_edges(number, smallest)
    question = magnitudes_of(of.schema, of.column, smallest)
    return OneSum(
        of, f"bounds of {of.column}", question, lambda released: _found(of.column, edges, released, confidence)
    )


def _found(column: str, edges: Array, released: Released, confidence: float) -> FoundBounds:
    """The ends of the outermost cells that noise alone does not fill: post-processing."""
    noise = released.spread.half_width([1.0], 1 - 2 * RISK / (len(edges) - 1))
    full = np.flatnonzero(released.values > noise)
    first, last = (int(full[0]), int(full[-1])) if len(full) else (0, len(edges) - 2)
    beyond = np.ones(len(edges) - 1)
    beyond[first : last + 1] = 0.0
    return FoundBounds(
        name=f"bounds of {column}",
        lower=float(edges[first]),
        upper=float(edges[last + 1]),
        outside=Estimate.around(
            f"values of {column} outside",
            max(0.0, float(released.values @ beyond)),
            whole_half_width(released.spread, beyond, confidence),
            standard_error=released.spread.stddev * math.sqrt(beyond.sum()),
            confidence=confidence,
            receipt=released.receipt,
        ),
        confidence=confidence,
        receipt=released.receipt,
    )
