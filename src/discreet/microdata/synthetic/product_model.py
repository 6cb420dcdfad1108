"""A table of all columns at once, of the greatest entropy that measured tables leave it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.dealt_records import dealt_out
from discreet.microdata.synthetic.measured_tables import MeasuredModel
from discreet.microdata.synthetic.synthesis import TITLE, TableLayout
from discreet.questions.tables.coded_tables import AxisPlaces

MOST_JOINT = 2**18  # cells of the table of all columns
SWEEPS, ENOUGH = 30, 1e-3  # of fitting it to all tables, and when that is done


def check_joint(layout: TableLayout, method: str) -> None:
    """Refuse columns whose table would have too many cells; says which to leave out."""
    size, left = 1, []
    for cells, name in sorted(zip(layout.most_cells, layout.columns, strict=True)):
        size *= cells
        if size > MOST_JOINT:
            left.append(name)
    if left:
        raise ParameterError(
            TITLE,
            f"the table of all columns has {size:.3g} cells, and {method} holds at most {MOST_JOINT}",
            f"Leave out {', '.join(left)}, or give fewer bins; or use another method, such as tree.",
            size=size,
        )


@dataclass(frozen=True)
class ProductModel(MeasuredModel):
    """The table of all columns.

    It starts as if columns were independent, and is multiplied until it agrees with each measured table in turn: so it
    is the one of greatest entropy that agrees with all of them (Csiszar 1975), as far as any does.
    """

    @cached_property
    def joint(self) -> Array:
        """How many records are in each cell."""
        dimensions = len(self.codes.sizes)
        found = np.full((1,) * dimensions, self.total)
        for place, margin in enumerate(self.counts.margins):
            found = found * _along(margin / self.total, (place,), dimensions)
        tables = {axes: table for axes, table in self.counts.tables.items() if len(axes) > 1}
        for _ in range(SWEEPS):
            off = 0.0
            for axes, table in tables.items():
                now = self._summed(found, axes)
                off += float(np.abs(now - table).sum())
                found *= _along(table / np.maximum(now, np.finfo(float).tiny), axes, dimensions)
            if off <= ENOUGH * self.total * len(tables):
                break
        return found

    def expected(self, axes: AxisPlaces) -> Array:
        """The table of any columns, in ascending order."""
        return self._summed(self.joint, axes)

    def _summed(self, joint: Array, axes: AxisPlaces) -> Array:
        return joint.sum(axis=tuple(place for place in range(joint.ndim) if place not in axes))

    def likelihood(self, places: Steps) -> Array:
        return np.log(self.joint[tuple(places.T)] + np.finfo(float).tiny)

    def counted_out(self, rows: int, generator: np.random.Generator) -> Steps:
        cells = dealt_out(self.joint.reshape(1, -1), np.zeros(rows, np.int64), generator)
        return np.column_stack(np.unravel_index(cells, self.codes.sizes))


def _along(table: Array, axes: AxisPlaces, dimensions: int) -> Array:
    """A table of some columns in ascending order, as one of all columns that is the same along the others."""
    return table.reshape([table.shape[axes.index(place)] if place in axes else 1 for place in range(dimensions)])
