"""What every source of records offers: batches of numbers, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from discreet.core.grid import Array
from discreet.core.neighbors import Unit
from discreet.core.schema import Schema

BATCH = 2**16  # rows


class Source(Protocol):
    """Records behind a schema, at most `unit.rows` rows of each unit, read again for every question."""

    @property
    def schema(self) -> Schema: ...

    @property
    def unit(self) -> Unit: ...

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Matrices of at most `BATCH` rows with these columns, in this order.

        A number is itself, and nan where it is missing or cannot be read. A category is its place in the schema's
        list, and nan where it is not listed. Nothing about a record's content raises.
        """
        ...

    def keys(self, column: str) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, batch by batch."""
        ...

    def units(self) -> int:
        """The number of units: public under replace neighbors only."""
        ...
