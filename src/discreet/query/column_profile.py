"""What a report says about one column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.display.digits import exact
from discreet.query.chart import Bar
from discreet.releases.estimate import Estimate
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Column, Number, Text
from discreet.statistics.tables.histogram import Histogram
from discreet.statistics.tables.key_counts import NamedCounts


@dataclass(frozen=True)
class ColumnProfile:
    """What was released about one column.

    Parameters
    ----------
    name : str
        The column.
    kind : Number, Category or Text
        What the schema says of it.
    figures : tuple of Estimate
        Single numbers, with error bars; none for categories and text.
    counts : Histogram or NamedCounts
        Records per cell, category or named value, with an error bar for each.
    """

    name: str
    kind: Column
    figures: tuple[Estimate, ...]
    counts: Histogram | NamedCounts

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The counts, one by one."""
        counts = self.counts
        labels = counts.counts if isinstance(counts, NamedCounts) else counts.labels[0]
        pairs = zip(labels, counts.values.tolist(), strict=True)
        return tuple(Bar(label, count, counts.half_width) for label, count in pairs)

    @property
    def edges(self) -> Array:
        """The edges of the cells of a number."""
        return np.array([]) if not isinstance(self.counts, Histogram) else np.asarray(self.counts.edges)

    def shown(self, value: float) -> str:
        """A value of a number, in words; a time by its day."""
        return self.kind.shown(value)[:10] if isinstance(self.kind, Temporal) else exact(value)

    @property
    def description(self) -> str:
        """What the schema says of it, in words."""
        match self.kind:
            case Number():
                return f"{type(self.kind).__name__.lower()} from {self.kind.described}"
            case Category(values):
                return f"category with {len(values)} listed values"
            case Text():
                return f"text; a value is named if its noisy count is at least {self._threshold:,}"

    @property
    def _threshold(self) -> int:
        return self.counts.threshold if isinstance(self.counts, NamedCounts) else 0
