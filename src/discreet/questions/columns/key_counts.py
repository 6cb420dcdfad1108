"""Rows per value of a column, for values that are not public."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet.core.answer import KeyedAnswer
from discreet.questions.question import View


@dataclass(frozen=True)
class KeyCounts:
    """How many rows hold each value of a column whose values are not public. A curator alone can ask this.

    Parameters
    ----------
    column : str
        Public. The column.
    """

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (self.column,)

    def answer(self, view: View) -> KeyedAnswer:
        """The values that occur, and how often each does."""
        return keyed(view.keys(self.column), view)


def keyed(batches: Iterable[dict[str, int]], view: View) -> KeyedAnswer:
    """Counts by key, batch by batch, added up."""
    counts: Counter[str] = Counter()
    for batch in batches:
        counts.update(batch)
    keys = tuple(sorted(counts))
    return KeyedAnswer(keys, np.array([counts[key] for key in keys], dtype=np.int64), view.unit.rows, view.neighbors)
