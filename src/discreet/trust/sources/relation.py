"""Records that a DuckDB relation gives: a table, a view or a query in the user's own database."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from discreet.core.condition import Condition
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust.sources import source
from discreet.trust.sources.columns.arrow_column import arrow, check_types
from discreet.trust.sources.columns.sql_column import decoded_columns
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.engine import name
from discreet.trust.sources.header import check_header, not_single, read_columns
from discreet.trust.sources.shielded import check_reachable
from discreet.trust.sources.stream import Stream

ENGINE_LOCK = threading.RLock()  # for all of them: which connection a relation is on cannot be found out
MISREAD = ("BIT", "GEOMETRY", "TIME WITH TIME ZONE")  # Arrow is given their bytes, or less than they hold


class LockedStream(Stream):
    """A stream that reads from a connection of the user's."""

    def sum(self, question: BoundedSum) -> Steps:
        with ENGINE_LOCK:
            return super().sum(question)

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        with ENGINE_LOCK:
            return super().sums(questions)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Matrices of at most `BATCH` rows; see `Batched`. The connection is busy until the last one was given."""
        with ENGINE_LOCK:
            yield from super().batches(columns)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        with ENGINE_LOCK:
            yield from super().keys(column, condition)

    def units(self) -> int:
        with ENGINE_LOCK:
            return super().units()

    def copy_into(self, connection: Any, table: str) -> None:
        with ENGINE_LOCK:
            super().copy_into(connection, table)


class Relation(LockedStream):
    """A DuckDB relation as a source, such as `connection.sql("SELECT ...")` or `connection.table("visits")`.

    It runs again for every question, on its own connection, which is busy meanwhile; threads wait for one another.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        The records. A row of it must come from one record: it may choose rows and columns and compute with one row at a
        time, but what it joins, counts or ranks over rows is bounded by nothing. Under replace neighbors of records:
        all of a table, `connection.table("visits")`.
    """

    def __init__(self, relation: Any, schema: Schema, unit: Unit = RECORD) -> None:
        arrow()
        with ENGINE_LOCK:
            self._open("read a DuckDB relation", relation, schema, unit)

    def _open(self, asked: str, relation: Any, schema: Schema, unit: Unit) -> None:
        check_header(asked, relation.columns, schema, unit, any_case=True)
        types = dict(zip(relation.columns, relation.limit(0).to_arrow_table().schema.types, strict=True))
        check_types(asked, {column: types[column] for column in read_columns(schema, unit)}, schema)
        for column in read_columns(schema, unit):
            if (own := str(dict(_types(relation))[column])) in MISREAD:
                raise not_single(asked, column, own)
        arrow_types, own_types = ({n: str(t) for n, t in kinds} for kinds in (types.items(), _types(relation)))
        self._relation, self._columns = relation, decoded_columns(schema, unit, arrow_types, own_types)
        unit_type = types[unit.column] if unit.column is not None else None
        self.counted = _is_table(relation)
        LockedStream.__init__(self, asked, lambda names: _batches(relation, names), schema, unit, unit_type=unit_type)

    def check_ready(self) -> None:
        if self._kept is None:
            remedy = "Open the database again, and give a relation of it."
            with ENGINE_LOCK:
                check_reachable(self._asked, lambda: self._relation.limit(0).fetchall(), remedy)

    def _decoded_table(self) -> DecodedTable | None:
        if (columns := self._columns) is None:
            return None
        return DecodedTable(self._asked, lambda: self._relation.project(columns), self.schema)

    def _decoded(self, connection: Any) -> Any:
        if self._columns is None:
            return super()._decoded(connection)
        reader = self._relation.project(self._columns).to_arrow_reader(source.BATCH)
        return connection.from_arrow(arrow().RecordBatchReader.from_batches(reader.schema, _all(reader)))


def _is_table(relation: Any) -> bool:
    """Whether it is all of a table that DuckDB itself keeps, and no view, query or table of another database."""
    return bool(relation.type == "TABLE_RELATION" and "seq scan" in relation.explain().lower().replace("_", " "))


def _types(relation: Any) -> Iterable[tuple[str, Any]]:
    return zip(relation.columns, relation.types, strict=True)


def _batches(relation: Any, names: Sequence[str]) -> Iterator[Any]:
    return _all(relation.project(", ".join(name(column) for column in names)).to_arrow_reader(source.BATCH))


def _all(reader: Any) -> Iterator[Any]:
    """All batches of a reader; it is closed afterwards, so that the connection is free."""
    try:
        yield from reader
    finally:
        reader.close()
