"""Leaves: rectangles of cells with counts of classes, and records that are counted out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.dealt_records import dealt_out
from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.microdata.synthetic.synthesis import SynthesisModel
from discreet.microdata.synthetic.tree_model import fitted
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes
from discreet.questions.tables.splits import stretches_of


@dataclass(frozen=True)
class LeafModel(SynthesisModel):
    """The distribution of records whose cells, within a leaf, are independent of one another and of the leaf.

    A leaf is a stretch of cells of each column; the stretches of a column are the same everywhere. Counts of leaves are
    fitted to those of columns, and columns say how a leaf's records lie in its stretches.

    Parameters
    ----------
    codes : TableCodes
        The cells of the columns.
    total : float
        The number of records, public or noisy.
    counts : MeasuredTables
        Noisy counts of single columns.
    starts : tuple of tuples
        The first cell of each stretch of each column.
    leaves : array
        Noisy counts of leaves, with an axis for each column that has more than one stretch.
    stddev : float
        The deviation of their noise.
    """

    codes: TableCodes
    total: float
    counts: MeasuredTables
    starts: tuple[tuple[int, ...], ...]
    leaves: Array
    stddev: float

    @classmethod
    def of(cls, counts: MeasuredTables, starts: tuple[tuple[int, ...], ...], leaves: Array, stddev: float) -> LeafModel:
        """The model that these counts make."""
        return cls(counts.codes, counts.total, counts, starts, leaves, stddev)

    @cached_property
    def cut(self) -> tuple[int, ...]:
        """The columns that have more than one stretch."""
        return tuple(place for place, own in enumerate(self.starts) if len(own) > 1)

    @cached_property
    def table_of_leaves(self) -> Array:
        """How many records are in each leaf."""
        sums = [np.add.reduceat(self.counts.margins[place], self.starts[place]) for place in self.cut]
        return fitted(self.leaves, sums) if sums else np.array(self.total)

    def measured(self, axes: AxisPlaces) -> AxisPlaces | None:
        return axes if len(axes) == 1 else None

    def table(self, axes: AxisPlaces) -> Array:
        return self.counts.unbiased(axes)

    def _stretches(self, places: Steps) -> list[Steps]:
        """The stretch of each record in each column that is cut."""
        return [stretches_of(places[:, place], self.starts[place]) for place in self.cut]

    def likelihood(self, places: Steps) -> Array:
        found: Array = np.log(self.table_of_leaves[tuple(self._stretches(places))]) + np.zeros(len(places))
        for place, (margin, starts) in enumerate(zip(self.counts.margins, self.starts, strict=True)):
            stretches = stretches_of(places[:, place], starts)
            found += np.log(margin[places[:, place]] / np.add.reduceat(margin, starts)[stretches])
        return found

    def counted_out(self, rows: int, generator: np.random.Generator) -> Steps:
        leaves = dealt_out(self.table_of_leaves.reshape(1, -1), np.zeros(rows, np.int64), generator)
        own = dict(zip(self.cut, np.unravel_index(leaves, self.table_of_leaves.shape), strict=True))
        found = np.zeros((rows, len(self.codes.sizes)), dtype=np.int64)
        for place, (margin, starts) in enumerate(zip(self.counts.margins, self.starts, strict=True)):
            stretches = stretches_of(np.arange(len(margin)), starts)
            inside = np.where(stretches == np.arange(len(starts))[:, None], margin, 0.0)
            found[:, place] = dealt_out(inside, own.get(place, np.zeros(rows, np.int64)), generator)
        return found

    def again(self, generator: np.random.Generator) -> LeafModel:
        leaves = self.table_of_leaves + generator.normal(0, self.stddev, self.table_of_leaves.shape)
        return LeafModel.of(self.counts.again(generator), self.starts, leaves, self.stddev)

    def to_notes(self) -> dict[str, Any]:
        own = {"starts": [list(starts) for starts in self.starts], "leaves": self.leaves, "stddev": self.stddev}
        return {**own, "counts": self.counts.to_notes()}

    @classmethod
    def of_notes(cls, codes: TableCodes, notes: Mapping[str, Any]) -> LeafModel:
        counts = MeasuredTables.of_notes(codes, notes["counts"])
        return cls.of(counts, tuple(map(tuple, notes["starts"])), np.asarray(notes["leaves"]), float(notes["stddev"]))
