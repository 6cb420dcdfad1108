"""Rows per cell of a table with far too many cells to list them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import KeyedAnswer
from discreet.core.grid import Array
from discreet.questions.columns.key_counts import keyed
from discreet.questions.question import View


@dataclass(frozen=True)
class CellCounts:
    """How many rows are in each cell of a table with far too many cells to list. A curator alone can ask this.

    Parameters
    ----------
    of : callable
        Rows in; the places of the cell of each row that is in one, on all axes of the table, out.
    columns : tuple of str
        Public. The columns that `of` reads, in order.
    """

    of: Callable[[Array], NDArray[np.intp]]
    columns: tuple[str, ...]

    def answer(self, view: View) -> KeyedAnswer:
        """The cells that hold a record, each named by its places, and how many it holds."""
        return keyed((self._counted(batch) for batch in view.batches(self.columns)), view)

    def _counted(self, records: Array) -> dict[str, int]:
        rows, counts = np.unique(self.of(records), axis=0, return_counts=True)
        return {" ".join(map(str, row)): int(count) for row, count in zip(rows.tolist(), counts, strict=True)}
