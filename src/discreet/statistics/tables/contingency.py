"""Private contingency tables: how many records fall in each combination of cells of several columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, Unpack

import numpy as np

from discreet.questions.grouped import counted
from discreet.questions.tables.cells import Edges, cut
from discreet.questions.tables.domain import BINS, Bins, Domain
from discreet.releases.ask import ColumnsOf, OneSum, Released, Result, Subject
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import Shared, statistic
from discreet.statistics.tables.count_table import CountTable, ceiled


@dataclass(frozen=True, kw_only=True)
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

    @classmethod
    def of(
        cls,
        domain: Domain,
        released: Released,
        *,
        confidence: float = CONFIDENCE,
        population: bool = False,
        summed: int = 1,
    ) -> Self:
        """The table of these noisy counts. Where noise is rounded to whole records, that adds to its variance."""
        spread = released.spread
        rounding = min(1 / 12, spread.stddev**2 / 6) if spread.law.rounded else 0.0
        return cls(
            name=" by ".join(domain.columns) or "records",
            receipt=released.receipt,
            confidence=confidence,
            population=population,
            domain=domain,
            counts=released.values.reshape(domain.shape),
            stddev=math.sqrt(summed * (spread.stddev**2 + rounding)),
            half_width=ceiled(spread.half_width(np.ones(summed), confidence)),
            spread=spread,
            summed=summed,
        )

    def marginal(self, columns: Sequence[str]) -> ContingencyTable:
        """The table of some of the columns, in this order: sums of cells, at no cost, with intervals of its own.

        Parameters
        ----------
        columns : sequence of str
            Public. Some of the table's columns; none for the number of records.
        """
        domain = self.domain.project(columns)
        kept = [self.columns.index(name) for name in domain.columns]
        gone = tuple(axis for axis in range(len(self.columns)) if axis not in kept)
        counts = self.counts.sum(axis=gone) if gone else self.counts
        ordered = np.moveaxis(counts, [sorted(kept).index(axis) for axis in kept], range(len(kept)))
        return ContingencyTable.of(
            domain,
            Released(ordered, self.spread, self.receipt),
            confidence=self.confidence or CONFIDENCE,
            population=self.population,
            summed=self.summed * math.prod(self.domain.shape[axis] for axis in gone),
        )


@statistic(no_by="its columns make groups already: name those that make groups among them")
def contingency(
    of: ColumnsOf,
    *,
    bins: Bins = BINS,
    edges: Edges | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
    **_: Unpack[Shared],
) -> OneSum[ContingencyTable]:
    """Release how many records fall in each combination of cells of some columns.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. Numbers, each cut into equal cells between its bounds, and columns with public categories.
    bins : int, or mapping of str to int
        Public. The number of cells of each numeric column. One with a step, such as whole numbers or dates, may have
        fewer: all but the last then hold equally many of its values.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of a numeric column, ascending, such as [18, 25, 45, 98]; by column where several
        are meant. What is outside is in no cell.
    population : bool
        Public. Whether the intervals are for the expected counts over samples like this one, not for these data.

    Returns
    -------
    ContingencyTable
        A noisy count for every cell, the empty ones too, with an interval for each.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release of all cells together, for the data
    set's own neighbors. A record is in one cell only, so the price does not grow with their number.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Number, Schema
    >>> schema = Schema({"age": Number(0, 90), "sex": Category(("f", "m"))})
    >>> visits = {"age": [20.0] * 500 + [70.0] * 300, "sex": ["f"] * 500 + ["m"] * 300}
    >>> table = contingency(visits, ("age", "sex"), bins=3, bounds=schema, epsilon=1.0)
    >>> table.counts.shape, table.marginal(["sex"]).labels
    ((3, 2), (('f', 'm'),))
    """
    remedy = "Ask for `marginals` of fewer columns at a time, for the `frequent_cells` alone, or for fewer bins."
    domain = cut(of.schema, of.columns, bins, edges).listable(f"table of {', '.join(of.columns)}", remedy)
    return counted_cells(of, domain, lambda table: table, confidence, population)


def counted_cells(
    of: Subject,
    domain: Domain,
    read: Callable[[ContingencyTable], Result],
    confidence: float = CONFIDENCE,
    population: bool = False,
) -> OneSum[Result]:
    """What is read off the counts of all cells."""

    def table(released: Released) -> Result:
        return read(ContingencyTable.of(domain, released, confidence=confidence, population=population))

    return OneSum(of, f"table of {', '.join(domain.columns)}", counted(domain, of.schema), table)
