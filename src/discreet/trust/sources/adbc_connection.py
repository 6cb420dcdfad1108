"""A connection of an ADBC driver, which answers one query at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.core.held import unheld
from discreet.trust.sources.relation import ENGINE_LOCK


@unheld("part")
class AdbcConnection:
    """What a source asks of an ADBC connection; its owner may replace the connection where it was lost.

    Parameters
    ----------
    connection : connection of an ADBC driver
        To a database that quotes names as standard SQL does.
    """

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._streams = 0

    @property
    def is_postgres(self) -> bool:
        """Whether it is PostgreSQL itself, and no other database that speaks as it does."""
        return bool(self.connection.adbc_get_info().get("vendor_name") == "PostgreSQL")

    @property
    def streaming(self) -> bool:
        """Whether it is handing records over, which another statement would end."""
        return self._streams > 0

    def answered(self, query: str) -> list[tuple[Any, ...]]:
        """All rows that a query gives."""
        with ENGINE_LOCK, self.connection.cursor() as cursor:
            cursor.execute(query)
            found: list[tuple[Any, ...]] = cursor.fetchall()
            return found

    def streamed(self, query: str) -> Iterator[Any]:
        """Arrow record batches, a few at a time; whoever reads them holds the lock."""
        self._streams += 1
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(query)
                yield from cursor.fetch_record_batch()
        finally:
            self._streams -= 1

    def types(self, query: str) -> Any:
        """The names and types of what a query gives, as Arrow has them."""
        with ENGINE_LOCK, self.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({query}) AS records LIMIT 0")
            return cursor.fetch_record_batch().schema

    def done(self, statement: str) -> None:
        """A statement that gives nothing."""
        with ENGINE_LOCK, self.connection.cursor() as cursor:
            cursor.execute(statement)
