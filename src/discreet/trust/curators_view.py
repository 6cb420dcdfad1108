"""What a curator shows of its records to a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.core.question import BoundedSum
from discreet.core.secret import Secret
from discreet.noise.dealing import dealt
from discreet.trust.isolation.isolated import Form, isolated
from discreet.trust.permit import KEPT
from discreet.trust.sources.source import Batched, Source


class CuratorsView(Secret):
    """All records of a source, as `View` says.

    Parameters
    ----------
    source : Source
        The records.
    neighbors : Neighbors
        Public. The relation under which answers make promises.
    bits : Bits
        Where secret choices come from.
    """

    def __init__(self, source: Source, neighbors: Neighbors, bits: Bits) -> None:
        self._source, self.neighbors, self._bits = source, neighbors, bits
        self.unit = source.unit

    def sum(self, question: BoundedSum) -> Steps:
        """The exact sum, in grid steps."""
        return self._source.sum(question)

    def keys(self, column: str) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, batch by batch."""
        return self._source.keys(column)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """All rows, batch by batch."""
        return self._batched.batches(columns)

    def everything(self, columns: Sequence[str]) -> Array:
        """All rows in one matrix."""
        return self._batched.everything(columns)

    def dealt(self, records: Array, blocks: int) -> list[Array]:
        """Records in secret random blocks, each record by itself."""
        return [records[block] for block in dealt(self._bits, len(records), blocks)]

    def isolated(
        self, of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: str
    ) -> list[Array | None]:
        """What a stranger's function makes of each block of records, in a process of its own."""
        return isolated(of, blocks, size, seconds, cast(Form, form))

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
