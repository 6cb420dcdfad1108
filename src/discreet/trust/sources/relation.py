"""Records that a DuckDB relation gives: a table, a view or a query in the user's own database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from discreet.core.neighbors import RECORD, Unit
from discreet.core.schema import Schema
from discreet.trust.sources import source
from discreet.trust.sources.arrow_column import arrow, check_types
from discreet.trust.sources.engine import name
from discreet.trust.sources.header import check_header, read_columns
from discreet.trust.sources.stream import Stream


class Relation(Stream):
    """A DuckDB relation as a source, such as `connection.sql("SELECT ...")` or `connection.table("visits")`.

    It runs again for every question, on its own connection, which is busy meanwhile.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        The records. A row of it must come from one record: it may choose rows and columns and compute with one row at a
        time, but what it joins, counts or ranks over rows is bounded by nothing.
    schema : Schema
        Public. Columns that it does not describe are never read.
    unit : Unit
        Public. For a user, the rows beyond `unit.rows` and those without a unit are left out.
    """

    def __init__(self, relation: Any, schema: Schema, unit: Unit = RECORD) -> None:
        arrow()
        asked = "read a DuckDB relation"
        check_header(asked, relation.columns, schema, unit, any_case=True)
        types = dict(zip(relation.columns, relation.limit(0).to_arrow_table().schema.types, strict=True))
        check_types(asked, {column: types[column] for column in read_columns(schema, unit)})
        super().__init__(asked, lambda names: _batches(relation, names), schema, unit)


def _batches(relation: Any, names: Sequence[str]) -> Iterator[Any]:
    reader = relation.project(", ".join(name(column) for column in names)).to_arrow_reader(source.BATCH)
    try:
        yield from reader
    finally:
        reader.close()
