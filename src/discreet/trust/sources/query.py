"""Records that a query gives: in DuckDB, or in any database with an ADBC driver, such as PostgreSQL."""

from __future__ import annotations

import contextlib
import importlib
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from discreet.core.condition import Condition
from discreet.core.errors import MissingExtra, ParameterError, SchemaError
from discreet.core.grid import Steps
from discreet.core.held import unheld
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust.sources.adbc_connection import AdbcConnection
from discreet.trust.sources.columns.arrow_column import arrow, check_types
from discreet.trust.sources.engine import literal, name
from discreet.trust.sources.header import check_header, read_columns
from discreet.trust.sources.postgres import (
    DecodedRecords,
    PostgresKept,
    PostgresRows,
    decoded_records,
    postgres_kept,
    postgres_rows,
)
from discreet.trust.sources.relation import ENGINE_LOCK, LockedStream, Relation
from discreet.trust.sources.shielded import check_reachable, shielded
from discreet.trust.sources.source import Batched
from discreet.trust.sources.stream import Stream

Answered = Callable[[str], list[tuple[Any, ...]]]
"""The rows that a query to the database gives."""

MISREAD = ("money", "oid", "regproc")  # hundredths without a point, and numbers whose first bit is taken for a sign
TEXTS = ("enum_send", "textsend", "varcharsend", "bpcharsend", "namesend", "citextsend")
"""What sends values as their texts."""
PLACE = "SELECT current_database(), current_user, pg_postmaster_start_time()::TEXT"
ALLOWED = (
    "SELECT current_setting('server_version_num'), current_setting('transaction_read_only'),"
    " has_database_privilege(current_database(), 'TEMP')"
)
NAMELESS = 160_000  # the version from which on queries in brackets need no names


def check_postgres_types(asked: str, types: Any, names: Sequence[str], answered: Answered) -> None:
    """Refuse columns of types whose values would not be read as what they are; of another database, none.

    Parameters
    ----------
    asked : str
        What is opened.
    types : pyarrow.Schema
        Public. The types of all columns, as the driver has them.
    names : sequence of str
        Public. The columns that are read.
    answered : callable
        Asks the database, for the types that the driver does not know.
    """
    for column in names:
        field = types.field(column)
        kind = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
        opaque = bool(kind) and isinstance(field.type, arrow().OpaqueType) and kind != "numeric"
        if kind in MISREAD or (opaque and not _is_text(kind, answered)):
            called = next((found for found, _ in _known(kind, answered)), kind)
            raise SchemaError(
                asked,
                f"column {column!r} holds {called}, which is read neither as numbers nor as texts",
                f"Leave it out, or convert it in a view or a query, as {column}::text or {column}::numeric.",
                kind=called,
            )


def _is_text(kind: str, answered: Answered) -> bool:
    """Whether all types of this name send texts, as enumerations do."""
    sent = [sender in TEXTS for _, sender in _known(kind, answered)]
    return bool(sent) and all(sent)


def _known(kind: str, answered: Answered) -> list[tuple[Any, ...]]:
    """The name of a type and what sends it; the driver may know its number alone."""
    number = re.fullmatch(r"unnamed<oid:([0-9]+)>", kind)
    which = f"pg_type.oid = {number[1]}" if number else f"typname = {literal(kind)}"
    tables = "pg_catalog.pg_type JOIN pg_catalog.pg_proc ON pg_proc.oid = typsend"
    return answered(f"SELECT typname::text, proname::text FROM {tables} WHERE {which}")


@unheld("own turns")
class Query(LockedStream):
    """A query to a database as a source: the driver hands Arrow record batches over, a few at a time.

    It runs again for every question, with only the columns that are asked for.

    Parameters
    ----------
    connection : connection of an ADBC driver
        To a database that quotes names as standard SQL does.
    query : str
        Public. The records. A row of it must come from one record: it may choose rows and columns and compute with one
        row at a time, but what it joins, counts or ranks over rows is bounded by nothing. Under replace neighbors of
        records it is refused: see `postgres_table`.
    connect : callable, optional
        Gives a new connection where this one was lost.
    """

    def __init__(
        self,
        connection: Any,
        query: str,
        schema: Schema,
        unit: Unit = RECORD,
        *,
        connect: Callable[[], Any] | None = None,
    ) -> None:
        arrow()
        self._connection, self._query, self._connect = AdbcConnection(connection), query.strip().rstrip(";"), connect
        asked, types = "run a query", self._connection.types(self._query)
        check_header(asked, types.names, schema, unit)
        check_postgres_types(asked, types, read_columns(schema, unit), self._connection.answered)
        check_types(asked, {column: types.field(column).type for column in read_columns(schema, unit)}, schema)
        unit_type = types.field(unit.column).type if unit.column is not None else None
        self._rows: PostgresRows | None = None
        with ENGINE_LOCK:
            super().__init__(asked, self._batches, schema, unit, unit_type=unit_type)
            if self._kept is None and self._connection.is_postgres:
                self._rows = postgres_rows(asked, self._connection, self._query, schema)

    def check_ready(self) -> None:
        if self._kept is not None and not isinstance(self._kept, PostgresKept):
            return
        with ENGINE_LOCK:
            try:
                self._look()
            except Exception:
                check_reachable(self._asked, self._reconnect, "Connect to the database again, and give what it gives.")

    def _look(self) -> None:
        """Try the connection; what was set aside there is made again where it is gone."""
        self._connection.answered("SELECT 1")
        if isinstance(self._kept, PostgresKept) and not self._kept.there():
            self._kept.make()

    def _reconnect(self) -> None:
        if self._connect is None:
            raise ConnectionError
        self._connection.connection = self._connect()
        self._look()

    def sum(self, question: BoundedSum) -> Steps:
        rows = self._rows
        if rows is None or question.tally is None or not rows.reads(question.columns):
            return super().sum(question)
        with ENGINE_LOCK:
            return rows.sum(question)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        rows, read = self._rows, () if condition is None else condition.columns
        if rows is None or not rows.reads([*read, column]):
            yield from super().keys(column, condition)
            return
        with ENGINE_LOCK:
            yield from rows.keys(column, condition)

    def units(self) -> int:
        with ENGINE_LOCK:
            return super().units() if self._rows is None else self._rows.units()

    def _set_aside(self) -> Batched:
        if self.unit.pooled or not self._connection.is_postgres:
            return super()._set_aside()
        kept = postgres_kept(self._asked, self._connection, self._query, self.schema, self.unit)
        return super()._set_aside() if kept is None else kept

    @property
    def place(self) -> tuple[Any, ...]:
        """Which database the records are in, for this user: tables of the same one can be joined there.

        Where a connection is given, its own state may say which tables are meant: then it is that connection alone.
        """
        if self._connect is None:
            return (id(self._connection.connection),)
        return self._connection.answered(PLACE)[0]

    def decoded(self) -> tuple[AdbcConnection, DecodedRecords] | None:
        """All records as PostgreSQL decodes them, and the way there; None where they are elsewhere, or Arrow must."""
        if not self._connection.is_postgres:
            return None
        version, read_only, temporary = self._connection.answered(ALLOWED)[0]
        if int(version) < NAMELESS or read_only != "off" or not temporary:
            return None
        found = decoded_records(self._asked, self._connection, self._query, self.schema, self.unit)
        return None if found is None else (self._connection, found)

    def _batches(self, names: Sequence[str]) -> Iterator[Any]:
        columns = ", ".join(f"{name(column)} AS c{i}" for i, column in enumerate(names))
        return self._connection.streamed(f"SELECT {columns} FROM ({self._query}) AS records")


def query_source(connection: Any, query: str, schema: Schema, unit: Unit = RECORD) -> Stream:
    if hasattr(connection, "sql"):
        return Relation(connection.sql(query), schema, unit)
    if hasattr(connection, "adbc_get_info"):
        return Query(connection, query, schema, unit)
    raise ParameterError(
        "run a query",
        f"a {type(connection).__name__} does not hand over Arrow batches",
        "Give a connection of DuckDB or of an ADBC driver.",
    )


def postgres_table(uri: str, table: str, schema: Schema, unit: Unit = RECORD, *, namespace: str = "public") -> Query:
    """A table or view of a PostgreSQL database as a source; it connects again where its connection was lost.

    Under replace neighbors of records: a plain table, without partitions, inheritance or row security.

    Parameters
    ----------
    uri : str
        Where the database is: `postgresql://user@host/database`.
    table, namespace : str
        Public. The name of the table or view, and of the schema that PostgreSQL keeps it in.
    schema : Schema
        Public. Columns that it does not describe are never read.
    unit : Unit
        Public. Rows without a unit are left out, and those beyond `unit.rows` unless units are pooled.
    """
    try:
        driver = importlib.import_module("adbc_driver_postgresql.dbapi")
    except ImportError as why:
        raise MissingExtra(
            "read a PostgreSQL table", "its ADBC driver is not installed", "Run: pip install 'discreet[postgres]'."
        ) from why
    held: list[Any] = []

    def connect() -> Any:
        _close(held)
        held.append(driver.connect(uri, autocommit=True))
        return held[0]

    try:
        query = f"SELECT * FROM {name(namespace)}.{name(table)}"
        records = Query(connect(), query, schema, unit, connect=connect)
        records.counted = _is_table(held[0], table, namespace)
    except BaseException:
        _close(held)
        raise
    weakref.finalize(records, _close, held)
    records.reopened = lambda other: shielded(
        "read the records again", lambda: postgres_table(uri, table, other, unit, namespace=namespace)
    )
    return records


def _close(held: list[Any]) -> None:
    """Let go of a connection, which may be lost."""
    while held:
        with contextlib.suppress(Exception):
            held.pop().close()


def _is_table(connection: Any, table: str, namespace: str) -> bool:
    """Whether it is a plain table, all of whose rows everybody sees."""
    whole = "relkind = 'r' AND NOT relhassubclass AND NOT relrowsecurity"
    spaces = "pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS spaces ON spaces.oid = relnamespace"
    named = f"relname = {literal(table)} AND nspname = {literal(namespace)}"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {spaces} WHERE {named} AND {whole}")
        return bool(cursor.fetchone()[0] == 1)
