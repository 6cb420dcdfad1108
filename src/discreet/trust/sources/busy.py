"""Sources on a connection that can do one thing at a time: threads that ask them wait for one another."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from discreet.core.condition import Condition
from discreet.core.grid import Array, Steps
from discreet.questions.question import BoundedSum
from discreet.trust.sources.stream import Stream

ENGINE_LOCK = threading.RLock()  # for all of them: which connection a relation is on cannot be found out


class Busy(Stream):
    """A stream that reads from a connection of the user's."""

    def sum(self, question: BoundedSum) -> Steps:
        """The exact sum; see `Source`."""
        with ENGINE_LOCK:
            return super().sum(question)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Matrices of at most `BATCH` rows; see `Batched`. The connection is busy until the last one was given."""
        with ENGINE_LOCK:
            yield from super().batches(columns)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column; see `Source`."""
        with ENGINE_LOCK:
            yield from super().keys(column, condition)

    def units(self) -> int:
        """The number of units."""
        with ENGINE_LOCK:
            return super().units()
