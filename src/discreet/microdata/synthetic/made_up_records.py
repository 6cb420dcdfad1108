"""Records that are counted out of a model, as values, and fulfil public constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.condition import Condition, Mask, asks_for_missing
from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.number_cells import NumberCells
from discreet.microdata.synthetic.synthesis import SynthesisModel

MOST_VALUES = 2**22  # where nobody says how many: much noise may make the number of records look large
ROUNDS = 20  # of making up records again that contradict a constraint


@dataclass(frozen=True)
class MadeUpRecords:
    """Makes up records: all of it is post-processing of what was released.

    Parameters
    ----------
    model : SynthesisModel
        What records are counted out of.
    cells : mapping of str to NumberCells
        The cells of numbers.
    constraints : tuple of conditions
        What records fulfil.
    """

    model: SynthesisModel
    cells: Mapping[str, NumberCells]
    constraints: tuple[Condition, ...]

    def drawn(self, rows: int | None, generator: np.random.Generator) -> Array:
        """So many records, by default as many as the model says, in a random order; fewer, where hardly any fits."""
        wanted = min(round(self.model.total), MOST_VALUES // len(self.model.codes.columns)) if rows is None else rows
        found = self._fulfilling(wanted, generator)
        for _ in range(ROUNDS - 1 if self.constraints else 0):
            if len(found) == wanted:
                break
            found = np.concatenate([found, self._fulfilling(wanted, generator)])[:wanted]
        return found[generator.permutation(len(found))]

    def _fulfilling(self, rows: int, generator: np.random.Generator) -> Array:
        """Of so many made up records, those that fulfil the constraints."""
        found = self._values(self.model.counted_out(rows, generator), generator)
        return found[self._fulfilled(found)] if self.constraints else found

    def _fulfilled(self, records: Array) -> Mask:
        columns = dict(zip(self.model.codes.columns, records.T, strict=True))
        kept = np.ones(len(records), dtype=bool)
        for condition in self.constraints:
            unknown = np.isnan([columns[name] for name in condition.columns]).any(axis=0)
            kept &= condition.mask(columns) | (unknown & (not asks_for_missing(condition)))
        return kept

    def _values(self, found: Steps, generator: np.random.Generator) -> Array:
        """The values of records that are given by cells."""
        values = found.astype(np.float64)
        for place, name in enumerate(self.model.codes.columns):
            missing = found[:, place] == self.model.codes.sizes[place] - 1
            if name in self.cells:
                values[:, place] = self.cells[name].drawn(np.where(missing, 0, found[:, place]), generator)
            values[missing, place] = np.nan
        return values
