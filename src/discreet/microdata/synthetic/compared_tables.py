"""How far a synthetic table is from the data, in all tables of few columns: noisy distances, which bound any count."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.microdata.synthetic.synthesis import TableAsker
from discreet.questions.tables.coded_tables import MOST_TABLES, AxisPlaces, TableCodes, TableDistances
from discreet.questions.tables.domain import MOST_CELLS
from discreet.releases.spread import spread

WIDEST = 3


def compared_sets(sizes: tuple[int, ...]) -> tuple[AxisPlaces, ...]:
    """The tables that are compared: of one column and of two, and as many of the smallest of three as are possible.

    Examples
    --------
    >>> len(compared_sets((3, 3, 3, 3))), len(compared_sets((900, 900, 900)))
    (14, 4)
    """
    columns = range(len(sizes))
    sets = [axes for width in range(1, WIDEST + 1) for axes in combinations(columns, width)]
    cells = {axes: math.prod(sizes[axis] for axis in axes) for axes in sets}
    rising = sorted(sets, key=lambda axes: (len(axes) == WIDEST, cells[axes], axes))[:MOST_TABLES]
    whole = np.cumsum([cells[axes] for axes in rising])
    return tuple(axes for axes, sum_of in zip(rising, whole, strict=True) if sum_of <= MOST_CELLS)


@dataclass(frozen=True)
class ComparedTables:
    """Noisy sums of the distances between counts in the data and in a synthetic table.

    Parameters
    ----------
    codes : TableCodes
        The cells of the columns.
    distances : array
        For each of the `compared_sets`.
    stddev : float
        Of their noise.
    """

    codes: TableCodes
    distances: Array = field(repr=False)
    stddev: float

    @classmethod
    def asked(cls, asker: TableAsker, records: Array, total: float, noise: Any) -> ComparedTables:
        """Ask for them."""
        sets = compared_sets(asker.codes.sizes)
        places, scale = asker.codes.places(records), total / max(len(records), 1)
        expected = np.concatenate([own * scale for own in asker.codes.counted(places, sets)])
        question = TableDistances(asker.codes, sets, expected, np.ones(len(sets)), np.zeros(len(sets)))
        found: Array = asker.permit.ask(question, noise)
        return cls(asker.codes, found, spread(asker.of.data, question, noise).stddev)

    @cached_property
    def _by_set(self) -> dict[AxisPlaces, float]:
        return dict(zip(compared_sets(self.codes.sizes), self.distances.tolist(), strict=True))

    def bound(self, axes: AxisPlaces, confidence: float) -> float | None:
        """How far a count in the synthetic table is from that in the data at most, if such a table was compared.

        No set of cells is farther off than half the sum of all distances and half the difference of the totals, and
        these differ by no more than the counts of any column do: of one that is named before, since the least of many
        noisy distances is too small.
        """
        wide = self._by_set.get(tuple(sorted(axes)))
        if wide is None:
            return None
        normal, laplace = float(ndtri(0.5 + confidence / 2)), -math.log(1 - confidence) / math.sqrt(2)
        noise = max(normal, laplace) * self.stddev  # whichever of the two it is
        totals = self._by_set[int(np.argmin(self.codes.sizes)),]
        return (max(wide, 0.0) + max(totals, 0.0)) / 2 + noise

    def to_notes(self) -> dict[str, Any]:
        return {"distances": self.distances, "stddev": self.stddev}

    @classmethod
    def of_notes(cls, codes: TableCodes, notes: Mapping[str, Any]) -> ComparedTables:
        """What was kept."""
        return cls(codes, np.asarray(notes["distances"]), notes["stddev"])
