"""Private contingency tables: how many records fall in each combination of cells of several columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.questions.contingency import contingency_of
from discreet.questions.domain import BINS, MOST_CELLS, Bins, Domain
from discreet.releases.ask import asked, columns_of
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.statistics.tables.count_table import CountTable
from discreet.trust.as_private import Bounds


@dataclass(frozen=True)
class ContingencyTable(CountTable):
    """A released contingency table, whose marginals are its sums.

    Parameters
    ----------
    spread : Spread
        How the noise on each cell spreads.
    summed : int
        The number of cells of the release that each count is the sum of.
    """

    spread: Spread
    summed: int = 1

    @property
    def noise(self) -> float:
        """The standard deviation of the noise on each count: where it is rounded to whole records, that adds to it."""
        variance = self.spread.stddev**2
        rounding = min(1 / 12, variance / 6) if self.spread.law.rounded else 0.0
        return math.sqrt(self.summed * (variance + rounding))

    def marginal(self, columns: Sequence[str]) -> ContingencyTable:
        """The table of some of the columns, in this order: sums of cells, at no cost, with an error bar of its own.

        Parameters
        ----------
        columns : sequence of str
            Public. Some of the table's columns; none for the number of records.
        """
        domain = self.domain.project(columns)
        kept = [self.columns.index(name) for name in domain.columns]
        gone = tuple(axis for axis in range(len(self.columns)) if axis not in kept)
        counts = self.counts.sum(axis=gone) if gone else self.counts
        summed = self.summed * math.prod(self.domain.shape[axis] for axis in gone)
        return ContingencyTable(
            domain,
            np.moveaxis(counts, [sorted(kept).index(axis) for axis in kept], range(len(kept))),
            error_of(self.spread, summed),
            self.confidence,
            self.receipt,
            self.spread,
            summed,
        )


def error_of(spread: Spread, summed: int) -> float:
    """The error bar of a sum of n cells, in whole records."""
    return float(math.ceil(spread.half_width(np.ones(summed))))


def contingency(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    bins: Bins = BINS,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> ContingencyTable:
    """Release how many records fall in each combination of cells of some columns.

    Parameters
    ----------
    data : PrivateData, array of shape (n, columns), or data frame
        The records. One with a missing value in any of the columns is in no cell.
    columns : sequence of str, optional
        Public. Numbers, each cut into equal cells between its bounds, and columns with public categories.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: two numbers, or two sequences with one number per column; or a schema.
    bins : int, or mapping of str to int
        Public. How many cells a number has.
    epsilon, delta : float
        Public. What this may cost, in all.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    ContingencyTable
        A noisy count for every cell, the empty ones too, with the error bar of each.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release of all cells together, for the data
    set's own neighbors. A record is in one cell only, so the price does not grow with their number.

    Examples
    --------
    >>> from discreet.core.schema import Category, Number
    >>> schema = Schema({"age": Number(0, 90), "sex": Category(("f", "m"))})
    >>> visits = {"age": [20.0] * 500 + [70.0] * 300, "sex": ["f"] * 500 + ["m"] * 300}
    >>> table = contingency(visits, ("age", "sex"), bins=3, bounds=schema, epsilon=1.0)
    >>> table.counts.shape, table.marginal(["sex"]).labels
    ((3, 2), (('f', 'm'),))
    """
    budget = Budget(epsilon, delta)
    of = columns_of("table of counts", data, columns, bounds, budget)
    domain = Domain.of(of.data.schema, of.columns, bins)
    _check_size(domain)
    question = contingency_of(of.data.schema, domain.columns, domain.bins)
    released = asked(of.data, question, budget, f"table of {', '.join(domain.columns)}", key)
    counts, spread = released.values.reshape(domain.shape), released.spread
    return ContingencyTable(domain, counts, error_of(spread, 1), CONFIDENCE, released.receipt, spread)


def _check_size(domain: Domain) -> None:
    """Refuse a table that is too large to count cell by cell."""
    if domain.size > MOST_CELLS:
        raise ParameterError(
            f"table of {', '.join(domain.columns)}",
            f"it has {' x '.join(map(str, domain.shape))} cells, more than {MOST_CELLS}",
            "Ask for `marginals` of fewer columns at a time, for the `frequent_cells` alone, or for fewer bins.",
            size=domain.size,
        )
