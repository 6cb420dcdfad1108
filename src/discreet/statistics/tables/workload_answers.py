"""Released answers to many counting queries, with intervals and, mostly, a synthetic histogram."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.domain import Condition, Domain
from discreet.releases.columns import Columns, Series
from discreet.releases.table import Tabular
from discreet.statistics.tables.contingency import count_series


@dataclass(frozen=True, kw_only=True)
class WorkloadAnswers(Tabular):
    """Released answers to counting queries.

    Parameters
    ----------
    labels : tuple of str
        The queries.
    counts : array
        The number of records that each counts: noisy, possibly negative.
    stddevs : array or None
        The standard deviations of their noise; None for MWEM and boosting, whose errors depend on the data.
    half_widths : array
        How far noise, MWEM or boosting move each answer with the given confidence.
    together : bool
        Whether that is the confidence that all intervals hold at once. Otherwise it is that of each by itself.
    method : {"queries", "cells", "mwem", "boosting"}
        Noise was added to each query, or to each cell of the table; a table was made by MWEM, or several by boosting.
    domain : Domain
        The table's cells.
    table : array or None
        A synthetic histogram with these cells, from which further queries can be answered at no cost; none if noise was
        added to each query, or answers are medians of several.
    """

    labels: tuple[str, ...]
    counts: Array
    stddevs: Array | None
    half_widths: Array
    together: bool
    method: str
    domain: Domain
    table: Array | None

    def count(self, condition: Condition) -> float:
        """The answer of the synthetic histogram to any query. It has no interval."""
        if self.table is None:
            raise ParameterError("query", "there is no table", 'Use method="cells" or method="mwem".')
        return float(self.table.ravel() @ self.domain.where(condition))

    def tabulated(self) -> Columns:
        """A row for each query."""
        if self.stddevs is None:
            series = Series.around("count", self.counts, self.half_widths)
        else:
            sure = self.confidence or 0.0
            series = count_series(self.counts, self.stddevs, self.half_widths, sure, self.population)
        return Columns({"query": self.labels}, (series,))


def in_words(condition: Condition) -> str:
    """A condition for a reader.

    Examples
    --------
    >>> in_words({"age": (20, 40), "sex": ["f", "m"]})
    'age in [20, 40), sex f or m'
    """
    parts = []
    for column, wanted in condition.items():
        if not isinstance(wanted, str) and len(wanted) == 2 and not isinstance(wanted[0], str):
            parts.append(f"{column} in [{wanted[0]:.6g}, {wanted[1]:.6g})")
        else:
            parts.append(f"{column} {wanted if isinstance(wanted, str) else ' or '.join(wanted)}")
    return ", ".join(parts) or "everybody"
