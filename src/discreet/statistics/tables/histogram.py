"""The private histogram of a column, and the quantiles that can be read off it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.grouped import counted
from discreet.questions.tables.cells import Edges, cut
from discreet.questions.tables.domain import BINS
from discreet.releases.ask import ColumnOf, OneSum, Released
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import SharedOptions, statistic
from discreet.statistics.tables.contingency import ContingencyTable, contingency

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class Histogram(ContingencyTable):
    """A released histogram: the contingency table of one column."""

    @property
    def edges(self) -> Array | None:
        """The edges of the cells, for a numeric column."""
        return self.domain.edges[0]

    def quantile(self, q: float) -> float:
        """The value below which this share of the values lies, read off the histogram: post-processing, at no cost.

        It is right to within the cell it falls in, and to the noise of the cells below it.
        """
        if self.edges is None:
            raise ParameterError(f"quantile of {self.name}", "its categories have no order", "Ask for a number.")
        if not 0 <= q <= 1:
            raise ParameterError(f"quantile of {self.name}", f"q is {q}", "Give a share in [0, 1].")
        return quantile_of(self.counts, self.edges, q)

    def nonnegative(self) -> Histogram:
        """The same without negative counts, which are replaced by zero: post-processing, at no cost.

        No count gets farther from the exact one. Sums of many counts do, since those that were too low are raised.
        """
        return dataclasses.replace(self, counts=np.maximum(self.counts, 0.0))

    def draw(self, ax: Axes) -> None:
        """A bar with its interval for each cell, as wide as the cell."""
        if self.edges is None:
            return super().draw(ax)
        low, high = self.interval
        reach = np.stack([self.counts - low, high - self.counts])
        ax.bar(self.edges[:-1], self.counts, np.diff(self.edges), align="edge", yerr=np.maximum(reach, 0.0))
        ax.set_xlabel(self.name)
        ax.set_ylabel("count")
        return None


def quantile_of(counts: Array, edges: Array, q: float) -> float:
    """Where the cumulated counts, made monotone, pass this share of their total; the middle where they are empty."""
    below = np.r_[0.0, np.maximum.accumulate(np.maximum(np.cumsum(counts), 0.0))]
    if below[-1] <= 0:
        return float(0.5 * edges[0] + 0.5 * edges[-1])
    target = q * below[-1]
    cell = int(np.clip(np.searchsorted(below, target, side="left") - 1, 0, len(counts) - 1))
    inside = (target - below[cell]) / max(below[cell + 1] - below[cell], 1e-300)
    return float(edges[cell] + min(max(inside, 0.0), 1.0) * (edges[cell + 1] - edges[cell]))


@statistic(
    like=contingency, no_by="its cells are groups already: ask `contingency` for this column and those that make groups"
)
def histogram(
    of: ColumnOf,
    *,
    bins: int = BINS,
    edges: Edges | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
    **_: Unpack[SharedOptions],
) -> OneSum[Histogram]:
    """Release how many records fall in each cell of a column.

    Parameters
    ----------
    column : str, optional
        Public. For private data: a number, which is cut into equal cells between its bounds, or a category, which has a
        cell for each of its values.
    bins : int
        Public. The number of cells of a numeric column.
    edges : sequence, optional
        Public. The ends of the cells of a number, ascending, such as [18, 25, 45, 98]. What is outside is in no cell.
    confidence : float
        Public. Of each interval.

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
    purpose = f"histogram of {of.column}"
    domain = cut(of.schema, (of.column,), bins, edges).listable(purpose, "Ask for fewer bins.")

    def read(released: Released) -> Histogram:
        return Histogram.of(domain, released, confidence=confidence, population=population)

    return OneSum(of, purpose, counted(domain, of.schema), read)
