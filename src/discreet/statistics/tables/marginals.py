"""Private marginals of a table: all that are wanted from one release, and in agreement with one another."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Unpack

import numpy as np

from discreet.core.checks import names_of
from discreet.core.errors import ParameterError
from discreet.questions.tables.domain import BINS, Bins, Domain
from discreet.questions.tables.residuals import MarginalResiduals
from discreet.releases.ask import ColumnsOf, asked
from discreet.releases.columns import Columns, Series
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import SharedOptions, statistic
from discreet.releases.table import Tabular
from discreet.statistics.tables.contingency import CountTable, contingency
from discreet.statistics.tables.nonnegative import nonnegative_table, whole_table
from discreet.statistics.tables.strategy import Strategy, Targets, ways_of


@dataclass(frozen=True, kw_only=True)
class Marginals(Tabular):
    """Released marginals: where two of them overlap, their sums are the same.

    Parameters
    ----------
    domain : Domain
        The columns and their cells.
    wanted : tuple of tuple of str
        The columns of each marginal that was asked for.
    residuals : MarginalResiduals
        What they are made of, with variances.
    strategy : str
        What was measured: "table", "marginals", "parities", "contrasts" or "cuboids".
    spread : Spread
        The noise on each number that was measured.
    """

    domain: Domain
    wanted: tuple[tuple[str, ...], ...]
    residuals: MarginalResiduals
    strategy: str
    spread: Spread

    def marginal(self, columns: Sequence[str]) -> CountTable:
        """The marginal of these columns, in this order, with intervals of its own.

        Parameters
        ----------
        columns : sequence of str
            Public. All or some of the columns of a marginal that was asked for; none for the number of records.
        """
        names = names_of(columns)
        if len(set(names)) != len(names) or not any(set(names) <= set(one) for one in self.wanted):
            raise ParameterError(
                "marginal",
                f"none of {', '.join(names)} was asked for",
                f"There are {'; '.join(', '.join(one) for one in self.wanted)}, and what can be summed up from these.",
                "The release is as it was.",
            )
        places = [self.domain.columns.index(name) for name in names]
        deviation, confidence = math.sqrt(self.residuals.variance(places)), self.confidence or CONFIDENCE
        return CountTable(
            name=" by ".join(names) or "records",
            receipt=self.receipt,
            confidence=confidence,
            population=self.population,
            domain=self.domain.project(names),
            counts=self.residuals.marginal(places),
            stddev=deviation,
            half_width=self.spread.half_width([deviation / self.spread.stddev], confidence),
        )

    def nonnegative(self) -> Marginals:
        """The same marginals of a table without negative counts: nearer to the exact ones, all in all, at no cost.

        Intervals keep their widths, though a count that was raised to zero is then too large on average.
        """
        table = nonnegative_table(self.residuals)
        return dataclasses.replace(self, residuals=MarginalResiduals.of_table(table, self.residuals.variances))

    def whole(self) -> Marginals:
        """The same marginals of a table of whole, nonnegative counts, such as some records could have."""
        table = whole_table(nonnegative_table(self.residuals))
        return dataclasses.replace(self, residuals=MarginalResiduals.of_table(table, self.residuals.variances))

    def __iter__(self) -> Iterator[CountTable]:
        return (self.marginal(names) for names in self.wanted)

    def __len__(self) -> int:
        return len(self.wanted)

    def tabulated(self) -> Columns:
        """A row for each cell of each marginal."""
        tables = [(table.name, table.tabulated()) for table in self]
        each = [one.series[0] for _, one in tables]
        cells = [", ".join(cell) for table in self for cell in product(*table.labels)]
        numbers = [[getattr(one, name) for one in each] for name in ("values", "standard_error", "low", "high")]
        labels = {"marginal": tuple(name for name, one in tables for _ in range(len(one))), "cell": tuple(cells)}
        return Columns(labels, (Series("count", *map(np.concatenate, numbers)),))


@statistic(like=contingency, no_by="its columns make groups already: name those that make groups in the sets")
def marginals(
    records: RecordsOf,
    columns: Sequence[str] | None = None,
    *,
    sets: Sequence[Sequence[str]] | None = None,
    bins: Bins = BINS,
    confidence: float = CONFIDENCE,
    population: bool = False,
    **_: Unpack[SharedOptions],
) -> Marginals:
    """Release several marginals of a table of counts.

    What is measured is chosen, from the shape of the table alone, to minimise the mean variance of the marginals'
    cells: the marginals themselves, the table of all columns, contrasts or parities, each with weights of its own.
    Least squares over all that was measured then makes marginals that agree with one another.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. Numbers, each cut into equal cells between its bounds, and columns with public categories. Those of the
        sets where not given, or else all that are numbers.
    sets : sequence of sequences of str, optional
        Public. The columns of each marginal; every pair of columns where not given.

    Returns
    -------
    Marginals
        Tables of noisy counts with an interval for each.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release of one bounded sum, for the data
    set's own neighbors. The rest is post-processing. For columns of two cells and Laplace noise, the parities are those
    of Barak, Chaudhuri, Dwork, Kale, McSherry and Talwar 2007.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Schema
    >>> yes_no = Category(("yes", "no"))
    >>> schema = Schema({"smokes": yes_no, "drinks": yes_no, "runs": yes_no})
    >>> people = {"smokes": ["yes"] * 900, "drinks": ["no"] * 900, "runs": ["yes", "no"] * 450}
    >>> found = marginals(people, ("smokes", "drinks", "runs"), bounds=schema, epsilon=1.0)
    >>> bool(abs(found.marginal(["smokes", "runs"]).counts[0, 0] - 450) < 50)
    True
    """
    of = records.columns(_named(columns, sets))
    names, domain = of.columns, Domain.of(of.schema, of.columns, bins)
    wanted = _sets(domain, sets)
    targets = Targets.of(domain.shape, [frozenset(map(names.index, one)) for one in wanted])
    strategy = Strategy.best(of.data, domain, targets, of.budget, ways_of(targets), np.mean)
    found = measured(of, domain, wanted, strategy, f"{len(wanted)} marginals of {', '.join(names)}")
    return dataclasses.replace(found, confidence=confidence, population=population)


def measured(
    of: ColumnsOf, domain: Domain, wanted: tuple[tuple[str, ...], ...], strategy: Strategy, purpose: str
) -> Marginals:
    """Pay for a strategy, measure, and take least squares."""
    released = asked(of.data, strategy.question, of.budget, purpose, of.key)
    return Marginals(
        name=f"{purpose}, measured by {strategy.name}",
        receipt=released.receipt,
        confidence=CONFIDENCE,
        domain=domain,
        wanted=wanted,
        residuals=strategy.measurements.residuals(released.values, released.spread.stddev),
        strategy=strategy.name,
        spread=released.spread,
    )


def _named(columns: Sequence[str] | None, sets: Sequence[Sequence[str]] | None) -> Sequence[str] | None:
    if columns is not None or sets is None:
        return columns
    return tuple(dict.fromkeys(name for one in sets for name in one))


def _sets(domain: Domain, sets: Sequence[Sequence[str]] | None) -> tuple[tuple[str, ...], ...]:
    if sets is None:
        return tuple(combinations(domain.columns, min(2, len(domain.columns))))
    found = tuple(tuple(one) for one in sets)
    for one, given in zip(found, sets, strict=True):
        if isinstance(given, str) or len(set(one)) != len(one) or not set(one) <= set(domain.columns):
            raise ParameterError(
                "marginals", f"one of them is {given!r}", f"Name some of {', '.join(domain.columns)}, each once."
            )
    if not found or len({frozenset(one) for one in found}) != len(found):
        raise ParameterError("marginals", "there is none, or one of them twice", "Name each set of columns once.")
    return found
