"""Which rows of a released table are shown, and in which order: it sees noisy numbers alone, so nothing is paid."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.condition import SIGNS
from discreet.releases.columns import Series
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import Ordered, ShownGroups


@dataclass(frozen=True)
class ShownRows:
    """Some rows of a released table, in an order.

    Parameters
    ----------
    node : ShownGroups
        Public. Which.
    """

    node: ShownGroups

    def of(self, table: Table) -> Table:
        """The table with these rows."""
        kept = np.arange(len(table))
        for one in self.node.having:
            kept = kept[SIGNS[one.sign](table[one.column].values[kept], one.value)]
        for by in reversed(self.node.order):
            keys = self._keys(table, by)[kept]
            kept = kept[np.argsort(-keys if by.descends else keys, kind="stable")]
        kept = kept[: self.node.limit]
        labels = {name: tuple(each[i] for i in kept.tolist()) for name, each in table.labels.items()}
        return replace(table, labels=labels, series=tuple(_taken(one, kept) for one in table.series))

    def _keys(self, table: Table, by: Ordered) -> NDArray[np.intp]:
        """The rank of each row."""
        if by.cells:
            ranks = {label: rank for rank, label in enumerate(dict.fromkeys(table.labels[by.column]))}
            return np.array([ranks[label] for label in table.labels[by.column]], dtype=np.intp)
        own = table.labels[by.column] if by.column in table.labels else table[by.column].values
        return np.unique(np.array(own), return_inverse=True)[1]


def _taken(series: Series, rows: NDArray[np.intp]) -> Series:
    errors = (None if one is None else one[rows] for one in (series.standard_error, series.low, series.high))
    return Series(series.name, series.values[rows], *errors, kind=series.kind)
