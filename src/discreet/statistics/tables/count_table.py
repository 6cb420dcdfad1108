"""A released table of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.questions.domain import Domain
from discreet.releases.columns import Columns
from discreet.releases.table import Tabular
from discreet.statistics.tables.count_interval import count_series


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
        """The columns."""
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
