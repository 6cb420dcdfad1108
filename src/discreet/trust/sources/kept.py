"""The rows that bounded units keep of a stream of any length: chosen by DuckDB, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from discreet.core.neighbors import Unit
from discreet.core.schema import Number, Schema
from discreet.trust.sources import source
from discreet.trust.sources.arrow_column import arrow, canonical, texts
from discreet.trust.sources.engine import engine

START = "CAST('0x' || substr(md5(u), 1, 15) AS BIGINT)"


def canonical_fields(schema: Schema) -> Any:
    """The Arrow schema of `canonical_batches`."""
    pa = arrow()
    content = [pa.float64() if isinstance(kind, Number) else pa.large_string() for kind in schema.columns.values()]
    return pa.schema([("u", pa.large_string()), *((f"c{i}", kind) for i, kind in enumerate(content))])


def canonical_batches(batches: Iterable[Any], schema: Schema) -> Iterator[Any]:
    """Records as questions see them: the unit's name in `u`, the schema's columns in c0, c1, ...

    Parameters
    ----------
    batches : iterable of Arrow record batches
        The unit's column, then the schema's columns in order.
    schema : Schema
        Public.
    """
    fields = canonical_fields(schema)
    for batch in batches:
        unit, *content = batch.columns
        columns = [canonical(column, name, schema) for column, name in zip(content, schema.columns, strict=True)]
        yield arrow().record_batch([texts(unit), *columns], schema=fields)


def placed(schema: Schema) -> tuple[str, str]:
    """The place of a row among its unit's and their number, in SQL; see `contributions`."""
    order = ", ".join(f"c{i} NULLS FIRST" for i in range(len(schema.columns)))
    place = f"row_number() OVER (PARTITION BY u ORDER BY {order}) - 1 AS place"
    return place, "count(*) OVER (PARTITION BY u) AS size"


def choice(start: str, unit: Unit) -> str:
    """Whether a row is kept, in SQL, where `start` is `contributions.start` in the same dialect."""
    rows = min(unit.rows, 2**62)
    return f"(place * least({rows}, size) + {start} % size) % size < {rows}"


class Kept:
    """At most `unit.rows` rows of each unit, set aside at once; `contributions` says which.

    Parameters
    ----------
    batches : iterable of Arrow record batches
        All records: the unit's column, then the schema's columns in order.
    schema, unit : Schema, Unit
        Public. What is read, and how many rows a unit may keep.
    """

    def __init__(self, batches: Iterable[Any], schema: Schema, unit: Unit) -> None:
        self._columns = {name: f"c{i}" for i, name in enumerate(schema.columns)}
        self._connection = engine()
        records = arrow().RecordBatchReader.from_batches(canonical_fields(schema), canonical_batches(batches, schema))
        self._connection.register("records", records)
        rows = f"SELECT *, {', '.join(placed(schema))} FROM records WHERE u IS NOT NULL"
        kept = f"SELECT u, {', '.join(self._columns.values())} FROM ({rows}) WHERE {choice(START, unit)}"
        self._connection.execute(f"CREATE TABLE kept AS {kept}")
        self._connection.unregister("records")

    def read(self, names: Sequence[str]) -> Iterator[Any]:
        """Arrow record batches with these columns, in this order."""
        columns = ", ".join(self._columns[name] for name in names)
        yield from self._connection.cursor().sql(f"SELECT {columns} FROM kept").to_arrow_reader(source.BATCH)

    def units(self) -> int:
        """The number of units."""
        return int(self._connection.cursor().sql("SELECT count(DISTINCT u) FROM kept").fetchall()[0][0])
