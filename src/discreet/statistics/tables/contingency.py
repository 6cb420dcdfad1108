"""Private contingency tables: how many records fall in each combination of cells of several columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.questions.grouped import counted
from discreet.questions.tables.cells import Edges, cut
from discreet.questions.tables.domain import BINS, Bins, Domain
from discreet.releases.ask import ColumnsOf, OneSum, Released, Result, Subject
from discreet.releases.columns import Columns, Series
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import SharedOptions, statistic
from discreet.releases.table import Tabular


def count_series(
    counts: Array, stddev: ArrayLike, half_width: ArrayLike, confidence: float, population: bool, name: str = "count"
) -> Series:
    """Noisy counts with their intervals.

    For a population the interval is for the expected counts. Counts vary at most as Poisson variables do, by the square
    root of their expectation m, and the interval is that of a score test (Wilson 1927): all m for which the noisy count
    is within sqrt(h^2 + z^2 m) of m, where h is the half-width of the noise and z that of a standard normal variable. A
    negative count stands for zero.

    Parameters
    ----------
    counts : array
        Noisy counts.
    stddev, half_width : float or array
        The standard deviation of their noise, and how far it moves them with this confidence.
    confidence : float
        Public. Of each interval.
    population : bool
        Public. Whether the intervals are for the expected counts over samples like this one.
    name : str
        Of the column.

    Examples
    --------
    >>> found = count_series(np.array([100.0, -3.0]), 1.0, 2.0, 0.95, population=True)
    >>> found.low.round(1), found.high.round(1)
    (array([82.1,  0. ]), array([121.7,   4.7]))
    """
    values, noise = counts.ravel(), np.broadcast_to(np.asarray(stddev, dtype=np.float64), counts.shape).ravel()
    if not population:
        return Series.around(name, values, np.broadcast_to(half_width, counts.shape).ravel(), noise)
    z, half = float(ndtri(0.5 + confidence / 2)), np.asarray(half_width, dtype=np.float64).ravel()
    inside = np.maximum(values, 0.0)
    root = np.sqrt(half**2 + z * z * inside + z**4 / 4)
    low, high = np.maximum(inside + z * z / 2 - root, 0.0), inside + z * z / 2 + root
    return Series(name, values, np.sqrt(noise**2 + inside), low, high)


def ceiled(half_width: float) -> float:
    """A half-width for whole counts: rounded up to a whole number."""
    return float(math.ceil(half_width))


@dataclass(frozen=True, kw_only=True)
class CountTable(Tabular):
    """Noisy counts of all combinations of the cells of some columns.

    Parameters
    ----------
    domain : Domain
        The columns, one axis each, and their cells; with no column, the number of records.
    counts : array
        Noisy counts, possibly negative; axis i is column i.
    stddev : float
        The standard deviation of the noise on each count.
    half_width : float
        How far the noise moves a count, with the given confidence.
    """

    domain: Domain
    counts: Array
    stddev: float
    half_width: float

    @property
    def columns(self) -> tuple[str, ...]:
        return self.domain.columns

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The names of each column's cells."""
        return self.domain.labels

    def tabulated(self) -> Columns:
        """A row for each cell."""
        places = np.indices(self.domain.shape).reshape(len(self.columns), self.domain.size)
        labels = {
            name: np.array(each)[place] for name, each, place in zip(self.columns, self.labels, places, strict=True)
        }
        series = count_series(self.counts, self.stddev, self.half_width, self.confidence or 0.0, self.population)
        return Columns(labels, (series,))


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
    **_: Unpack[SharedOptions],
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
