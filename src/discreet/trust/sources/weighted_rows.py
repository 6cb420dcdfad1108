"""The rows of a weighted join, added up key by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted
from discreet.core.grid import Array, Steps
from discreet.questions.question import BoundedSum
from discreet.trust.exact_sum import contributions
from discreet.trust.sources.columns.arrow_column import read_matrix
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.related_rows import RelatedRows


class WeightedRows(RelatedRows):
    """Rows of which each adds as much as its weight says: what a key's rows add, over how many there are on both sides.

    What a key's rows add is a whole number of grid steps; its part is floored. So where one row moves the exact part by
    a, it moves what is added by less than a and one step, for each number. Quotients and remainders are added up apart,
    as integers: so this holds however many rows a key has.

    Parameters
    ----------
    relation : WeightedJoin
        Public. What the rows are.
    tables : mapping of StoredRows to Source
        The records of each table.
    """

    def sum(self, question: BoundedSum) -> Steps:
        self.check_ready()
        width = len(question.columns)

        def ordered() -> Any:
            return DecodedTable._chosen(self, question.columns, "k", "s").order(f"c{width}")

        total, last, rest = np.zeros(question.size, dtype=np.int64), (-1.0, 1), np.zeros(question.size, dtype=np.int64)
        for batch in self._batches(ordered):
            rows = read_matrix(batch, width + 2)
            steps = contributions(question, np.ascontiguousarray(rows[:, :width])).astype(np.int64)
            whole, over = np.divmod(steps, rows[:, width + 1].astype(np.int64)[:, None])
            total += whole.sum(axis=0)
            begins = np.flatnonzero(np.diff(rows[:, width], prepend=last[0]) != 0)
            rests = np.add.reduceat(np.concatenate([rest[None], over]), np.r_[0, begins + 1])
            sizes = np.r_[last[1], rows[begins, width + 1].astype(np.int64)]
            total += (rests[:-1] // sizes[:-1, None]).sum(axis=0)
            rest, last = rests[-1], (float(rows[-1, width]), int(sizes[-1]))
        return total + rest // last[1]

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        return [self.sum(question) for question in questions]

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Refused: the rows have weights."""
        raise weighed("hand over rows")

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Refused: the rows have weights."""
        raise weighed(f"count the values of {column!r}")


def weighed(asked: str) -> NotPermitted:
    """The refusal of anything but sums."""
    return NotPermitted(asked, "the rows have weights, so that their number bounds nothing", "Ask for sums.")
