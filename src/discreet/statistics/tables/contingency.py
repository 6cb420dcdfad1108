"""Private contingency tables: how many records fall in each combination of cells of several columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.contingency import contingency_of
from discreet.questions.domain import BINS, MOST_CELLS, Axes, Bins, bins_of, shape_of
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
    edges : tuple of array or None
        The edges of each number's cells; None for a category.
    summed : int
        How many cells of what was released each count is the sum of.
    """

    spread: Spread
    edges: tuple[Array | None, ...]
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
        kept = self.axes_of(tuple(columns))
        gone = tuple(axis for axis in range(len(self.columns)) if axis not in kept)
        counts = self.counts.sum(axis=gone) if gone else self.counts
        summed = self.summed * math.prod(len(self.labels[axis]) for axis in gone)
        return ContingencyTable(
            tuple(columns),
            tuple(self.labels[axis] for axis in kept),
            np.moveaxis(counts, [sorted(kept).index(axis) for axis in kept], range(len(kept))),
            error_of(self.spread, summed),
            self.confidence,
            self.receipt,
            self.spread,
            tuple(self.edges[axis] for axis in kept),
            summed,
        )


def error_of(spread: Spread, summed: int) -> float:
    """The error bar of a sum of so many cells, in whole records."""
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
    schema, names = of.data.schema, of.columns
    each = bins_of(schema, names, bins)
    _check_size(names, shape_of(schema, names, each))
    axes = Axes.of(schema, names, each)
    question = contingency_of(schema, names, each)
    released = asked(of.data, question, budget, f"table of {', '.join(names)}", key)
    counts = released.values.reshape(axes.shape)
    error, spread = error_of(released.spread, 1), released.spread
    return ContingencyTable(axes.columns, axes.labels, counts, error, CONFIDENCE, released.receipt, spread, axes.edges)


def _check_size(columns: Sequence[str], shape: tuple[int, ...]) -> None:
    """Refuse a table that is too large to be told cell by cell."""
    if (size := math.prod(shape)) > MOST_CELLS:
        raise ParameterError(
            f"table of {', '.join(columns)}",
            f"it has {' x '.join(map(str, shape))} cells, more than {MOST_CELLS}",
            "Ask for `marginals` of fewer columns at a time, for the `frequent_cells` alone, or for fewer bins.",
            size=size,
        )
