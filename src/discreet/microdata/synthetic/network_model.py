"""A Bayesian network: each column depends on a few before it, by tables that were counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.dealt_records import alike, dealt_out
from discreet.microdata.synthetic.measured_tables import MeasuredModel
from discreet.questions.tables.coded_tables import AxisPlaces


@dataclass(frozen=True)
class NetworkModel(MeasuredModel):
    """The distribution of records whose columns depend, each, on the others of a family: its table has it last.

    Families follow one another: the columns that one depends on are in families before. Columns of no family, while a
    network is being made, are in their first cell.
    """

    @property
    def families(self) -> list[AxisPlaces]:
        """The columns of each family: the first alone, and the others by the sets that were counted for them."""
        several = [axes for axes in self.counts.sets if len(axes) > 1]
        return [several[0][:1] if several else (0,), *several]

    def _conditional(self, family: AxisPlaces) -> Array:
        """A row for each cell of the columns before the last, with the counts of the last one."""
        table = self.counts.tables[family]
        return table.reshape(-1, table.shape[-1])

    def likelihood(self, places: Steps) -> Array:
        found = np.zeros(len(places))
        for family in self.families:
            table = self._conditional(family)
            groups = self.codes.codes(places, family[:-1])
            found += np.log(table[groups, places[:, family[-1]]] / table.sum(axis=1)[groups])
        return found

    def counted_out(self, rows: int, generator: np.random.Generator) -> Steps:
        found, made = np.zeros((rows, len(self.codes.sizes)), dtype=np.int64, order="F"), list[int]()
        for *parents, column in self.families:
            near = dict.fromkeys((*parents, *reversed(made)))
            groups, codes = (alike(found, self.codes.sizes, own) for own in (parents, near))
            found[:, column] = dealt_out(self._conditional((*parents, column)), groups, generator, codes)
            made.append(column)
        return found
