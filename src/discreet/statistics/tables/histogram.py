"""The private histogram of a column, and the quantiles that can be read off it."""

from __future__ import annotations

import dataclasses
import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.questions.contingency import contingency_of
from discreet.questions.domain import BINS, Domain
from discreet.releases.ask import asked, column_of
from discreet.releases.drawing import drawn_on
from discreet.releases.spread import CONFIDENCE
from discreet.trust.as_private import Bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Histogram:
    """A released histogram.

    Parameters
    ----------
    column : str
        The column.
    labels : tuple of str
        The categories, or the cells' intervals.
    counts : array
        Noisy counts, possibly negative.
    error : float
        Half-width of an interval that holds a cell's exact count with the given confidence.
    edges : array, optional
        The cells' edges, for a numeric column.
    confidence : float
        Of each interval.
    receipt : Receipt
        What it cost.
    """

    column: str
    labels: tuple[str, ...]
    counts: Array
    error: float
    edges: Array | None
    confidence: float
    receipt: Receipt

    def quantile(self, share: float) -> float:
        """The value below which this share of the values lies, read off the histogram: post-processing, at no cost.

        It is right to within the cell it falls in, and to the noise of the cells below it.
        """
        if self.edges is None:
            raise ParameterError(f"quantile of {self.column}", "its categories have no order", "Ask for a number.")
        if not 0 <= share <= 1:
            raise ParameterError(f"quantile of {self.column}", f"share is {share}", "Give a share in [0, 1].")
        return quantile_of(self.counts, self.edges, share)

    def nonnegative(self) -> Histogram:
        """The same without negative counts, which are replaced by zero: post-processing, at no cost.

        No count gets farther from the exact one. Sums of many counts do, since those that were too low are raised.
        """
        return dataclasses.replace(self, counts=np.maximum(self.counts, 0.0))

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw a bar with its error bar for each cell.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; new ones by default.
        """
        axes = drawn_on("a histogram", axes)
        if self.edges is None:
            axes.bar(self.labels, self.counts, yerr=self.error)
        else:
            axes.bar(self.edges[:-1], self.counts, np.diff(self.edges), align="edge", yerr=self.error)
        axes.set_xlabel(self.column)
        axes.set_ylabel("records")
        return axes

    def __str__(self) -> str:
        width = max(len(label) for label in self.labels)
        most = max(float(self.counts.max(initial=0.0)), 1.0)
        bars = [
            f"{label:>{width}} {count:>12,.0f} {'#' * round(40 * max(count, 0.0) / most)}"
            for label, count in zip(self.labels, self.counts, strict=True)
        ]
        return "\n".join([f"{self.column}, each ± {self.error:.0f} ({self.confidence:.0%})", *bars])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.receipt._repr_html_()}"


def quantile_of(counts: Array, edges: Array, share: float) -> float:
    """Where the cumulated counts, made monotone, pass this share of their total; the middle where they are empty."""
    below = np.r_[0.0, np.maximum.accumulate(np.maximum(np.cumsum(counts), 0.0))]
    if below[-1] <= 0:
        return float(0.5 * edges[0] + 0.5 * edges[-1])
    target = share * below[-1]
    cell = int(np.clip(np.searchsorted(below, target, side="left") - 1, 0, len(counts) - 1))
    inside = (target - below[cell]) / max(below[cell + 1] - below[cell], 1e-300)
    return float(edges[cell] + min(max(inside, 0.0), 1.0) * (edges[cell + 1] - edges[cell]))


def histogram(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    bins: int = BINS,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Histogram:
    """Release how many records fall in each cell of a column.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records.
    column : str, optional
        Public. For private data: a number, which is cut into equal cells between its bounds, or a category, which has a
        cell for each of its values.
    bounds : (float, float) or Schema, optional
        Public. For an array or data frame: values outside are moved to the nearer one. Private data have them in their
        schema.
    bins : int
        Public. How many cells, for a number.
    epsilon, delta : float
        Public. What this may cost, in all.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    Histogram
        Noisy counts for every cell, the empty ones too; records without a value are in none.

    Guarantee
    ---------
    The event on the receipt, one release of all cells together: a record is in one cell only. The noise is Laplace or
    Gaussian, or `DiscreteLaplace` where neither this nor the account has a delta: it is less, and composes worse.

    Examples
    --------
    >>> len(histogram(np.linspace(0, 1, 1000), bounds=(0, 1), bins=4, epsilon=1.0).counts)
    4
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    domain = Domain.listed(of.data.schema, (of.column,), bins)
    question = contingency_of(of.data.schema, domain.columns, domain.bins)
    released = asked(of.data, question, budget, f"histogram of {of.column}", key)
    error, (labels,), (edges,) = float(np.ceil(released.spread.half_width([1.0]))), domain.labels, domain.edges
    return Histogram(of.column, labels, released.values, error, edges, CONFIDENCE, released.receipt)
