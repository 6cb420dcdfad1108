"""Mean distances of tables of counts from what is expected, a mean for each group of tables."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import View
from discreet.questions.tables.coded_tables import FINE, AxisPlaces, TableCodes, TableDistances

MOST_IN_GROUP = 2**-FINE.exponent  # so that each has a weight on the grid


@dataclass(frozen=True)
class GroupedDistances:
    """The mean distance of each group of tables of counts, which a curator alone can compute.

    A record is in one cell of each table, so it moves the distance of each by one at most, and a mean too: however many
    tables a group has, its mean takes the noise of one.

    Parameters
    ----------
    codes : TableCodes
        Public. The cells.
    sets : tuple of tuples
        Public. The columns of each table, by their places.
    groups : tuple of int
        Public. The group of each table, from 0 on.
    expected : array
        Public. What each cell of each table is expected to count, one table after another.
    """

    codes: TableCodes
    sets: tuple[AxisPlaces, ...]
    groups: tuple[int, ...]
    expected: Array

    def __post_init__(self) -> None:
        check_whole("grouped distances", "number of groups", len(self.groups), len(self.sets), len(self.sets))
        sizes = np.bincount(self.groups) if min(self.groups, default=-1) >= 0 else np.zeros(1)
        if not ((sizes >= 1) & (sizes <= MOST_IN_GROUP)).all():
            obstacle = "a group has no tables or too many"
            raise ParameterError("grouped distances", obstacle, f"Put 1 to {MOST_IN_GROUP} tables into each.")
        _ = self._distances

    @property
    def columns(self) -> tuple[str, ...]:
        return self.codes.columns

    @property
    def size(self) -> int:
        return max(self.groups) + 1

    @property
    def grid(self) -> Grid:
        return self._distances.grid

    @cached_property
    def weights(self) -> Array:
        """The sum of the weights of each group: 1, or a little less, since each is cut to the grid."""
        each = FINE.values(FINE.cut(self._distances.weights))
        return np.asarray(np.bincount(self.groups, each), dtype=np.float64)

    @property
    def bound(self) -> Bound:
        """The most that a record moves a mean."""
        return Bound("linf", float(self.weights.max()))

    @cached_property
    def _distances(self) -> TableDistances:
        each = 1 / np.bincount(self.groups)[list(self.groups)]
        return TableDistances(self.codes, self.sets, self.expected, each, np.zeros(len(self.sets)))

    def answer(self, view: View) -> Answer:
        """All means."""
        found = self._distances.answer(view)
        steps = np.zeros(self.size, dtype=np.int64)
        np.add.at(steps, list(self.groups), found.steps)
        return dataclasses.replace(found, steps=steps, bound=self.bound.times(view.unit.rows))
