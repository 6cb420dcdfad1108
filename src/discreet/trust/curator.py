"""The curator: one trusted party that holds the records and adds the noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from discreet.core.answer import Answer, KeyedAnswer, Records
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors
from discreet.core.question import AllRecords, BlockSum, BoundedSum, CellCounts, KeyCounts, Question
from discreet.core.secret import Secret
from discreet.mechanisms.vectors.sphere_report import promised
from discreet.noise.bits import system_bits
from discreet.trust.blocks import block_sum
from discreet.trust.permit import KEPT
from discreet.trust.sources.source import Batched, Source, check_counted

Release = TypeVar("Release")


class Curator(Secret):
    """Asks the records, keeps the exact answer to itself, and lets the mechanism release.

    Parameters
    ----------
    source : Source
        The records.
    neighbors : Neighbors
        Public. The relation under which this data set makes promises. Where it makes the number of records public, a
        source that may choose rows by what they hold is refused.
    bits : Bits, optional
        Where noise comes from; the operating system's where not given. Anything that could be replayed marks every
        receipt as not private.
    """

    def __init__(
        self, source: Source, neighbors: Neighbors = Neighbors.ADD_REMOVE, *, bits: Bits | None = None
    ) -> None:
        check_counted(source, neighbors)
        self._source = source
        self.neighbors = neighbors
        self._bits = system_bits() if bits is None else bits
        self.schema = source.schema
        self.unit = source.unit

    reports = 1

    @property
    def curated(self) -> bool:
        """Whether all records can be handed to a mechanism: by a source that does not only add up, for bounded rows."""
        return isinstance(self._source, Batched) and not self.unit.pooled

    @property
    def secret(self) -> bool:
        """Whether the noise is secret."""
        return self._bits.secret

    @property
    def units(self) -> int:
        """The number of units; the data set gives it out only where its relation makes it public."""
        return self._source.units()

    def keeps(self, event: Event) -> bool:
        """Every promise about a sum, since the curator holds the exact answer; not those about one person's report."""
        return not promised(event)

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The mechanism's release of the exact answer."""
        return mechanism.release(self._answer(question), self._bits)

    def _answer(self, question: Question) -> Answer | KeyedAnswer | Records:
        match question:
            case BoundedSum():
                question = question.for_unit(self.unit)
                bound = question.bound.times(self.unit.rows)
                return Answer(self._source.sum(question), question.grid, bound, self.neighbors)
            case KeyCounts(column):
                return self._keyed(self._source.keys(column))
            case CellCounts():
                return self._keyed(_cells(question, batch) for batch in self._batched.batches(question.columns))
            case AllRecords(columns):
                return Records(self._batched.everything(columns), self.unit.rows, self.neighbors)
            case BlockSum():
                steps = block_sum(question, self._batched.everything(question.columns), self._bits)
                return Answer(steps, question.grid, question.bound.times(self.unit.rows), Neighbors.REPLACE)

    @property
    def _batched(self) -> Batched:
        if not isinstance(self._source, Batched):
            raise NotPermitted(
                "all records",
                f"{type(self._source).__name__} adds up where the records are and hands none over",
                "Ask for a sum, or read the records from a file or a data frame.",
                KEPT,
            )
        return self._source

    def _keyed(self, batches: Iterable[dict[str, int]]) -> KeyedAnswer:
        counts: Counter[str] = Counter()
        for batch in batches:
            counts.update(batch)
        keys = tuple(sorted(counts))
        steps = np.array([counts[key] for key in keys], dtype=np.int64)
        return KeyedAnswer(keys, steps, self.unit.rows, self.neighbors)

    def __repr__(self) -> str:
        return f"Curator({type(self._source).__name__}, {self.neighbors})"


def _cells(question: CellCounts, records: Array) -> dict[str, int]:
    """How many of these records are in each cell; a cell is named by its places."""
    rows, counts = np.unique(question.of(records), axis=0, return_counts=True)
    return {" ".join(map(str, row)): int(count) for row, count in zip(rows.tolist(), counts, strict=True)}
