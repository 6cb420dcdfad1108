"""Which rows of a released table are shown, and in which order: it sees noisy numbers alone, so nothing is paid."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.condition import SIGNS
from discreet.releases.columns import Series
from discreet.releases.table import Table


@dataclass(frozen=True)
class Having:
    """Rows whose released number compares in this way with another."""

    column: str
    sign: str
    value: float


@dataclass(frozen=True)
class Ordered:
    """Rows by a label or a released number, the least first unless it descends.

    Labels are ordered as texts; those of cells of numbers as the cells are.
    """

    column: str
    descends: bool = False
    cells: bool = False


@dataclass(frozen=True)
class ShownRows:
    """Some rows of a released table, in an order.

    Parameters
    ----------
    having : tuple of Having
        Public. All of which must hold.
    order : tuple of Ordered
        Public. The first decides, the next where it is equal.
    limit : int, optional
        Public. At most so many rows.
    """

    having: tuple[Having, ...] = ()
    order: tuple[Ordered, ...] = ()
    limit: int | None = None

    def of(self, table: Table) -> Table:
        """The table with these rows."""
        kept = np.arange(len(table))
        for one in self.having:
            kept = kept[SIGNS[one.sign](table[one.column].values[kept], one.value)]
        for by in reversed(self.order):
            keys = self._keys(table, by)[kept]
            kept = kept[np.argsort(-keys if by.descends else keys, kind="stable")]
        kept = kept[: self.limit]
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
