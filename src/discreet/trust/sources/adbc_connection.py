"""A connection of an ADBC driver, which answers one query at a time."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from typing import Any

from discreet.core.held import unheld
from discreet.trust.sources.relation import ENGINE_LOCK

_IN_USE: list[Any] = []  # of all: what two sources ask may go through one connection, and one lock guards them
_UNWANTED: deque[tuple[AdbcConnection, str]] = deque()


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

    @property
    def is_postgres(self) -> bool:
        """Whether it is PostgreSQL itself, and no other database that speaks as it does."""
        return bool(self.connection.adbc_get_info().get("vendor_name") == "PostgreSQL")

    def answered(self, query: str) -> list[tuple[Any, ...]]:
        """All rows that a query gives."""
        with ENGINE_LOCK, self._cursor() as cursor:
            cursor.execute(query)
            found: list[tuple[Any, ...]] = cursor.fetchall()
            return found

    def streamed(self, query: str) -> Iterator[Any]:
        """Arrow record batches, a few at a time; whoever reads them holds the lock."""
        with self._cursor() as cursor:
            cursor.execute(query)
            yield from cursor.fetch_record_batch()

    def types(self, query: str) -> Any:
        """The names and types of what a query gives, as Arrow has them."""
        with ENGINE_LOCK, self._cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({query}) AS records LIMIT 0")
            return cursor.fetch_record_batch().schema

    def done(self, statement: str) -> None:
        """A statement that gives nothing."""
        with ENGINE_LOCK, self._cursor() as cursor:
            cursor.execute(statement)

    def sent(self, table: str, rows: Any) -> None:
        """A temporary table with the rows of an Arrow table, which is public."""
        with ENGINE_LOCK, self._cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="create", temporary=True)

    def drop(self, tables: str) -> None:
        """Drop tables that nobody asks any more: at once or, while any connection is in use, as soon as none is.

        A source may be thrown away in the middle of a statement of another one on the same connection, which the
        statement that drops would end.
        """
        _UNWANTED.append((self, f"DROP TABLE IF EXISTS {tables}"))
        _drop_unwanted()

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        _IN_USE.append(self)
        try:
            with self.connection.cursor() as cursor:
                yield cursor
        finally:
            _IN_USE.remove(self)
            _drop_unwanted()


def _drop_unwanted() -> None:
    """Drop what nobody asks any more, unless a connection is in use; one that is lost has taken its tables along."""
    if not _UNWANTED or _IN_USE or not ENGINE_LOCK.acquire(blocking=False):
        return
    _IN_USE.append(None)
    try:
        while _UNWANTED:
            connection, statement = _UNWANTED.popleft()
            with contextlib.suppress(Exception):
                connection.done(statement)
    finally:
        _IN_USE.remove(None)
        ENGINE_LOCK.release()
