"""Records in PostgreSQL: decoded, bounded and added up there, so that only sums come here."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.condition import Condition
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Steps
from discreet.core.held import unheld
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.relation.limited_rows import choice, place
from discreet.schema.schema import Category, Schema
from discreet.trust.exact_sum import exact_sum
from discreet.trust.sources.adbc_connection import AdbcConnection
from discreet.trust.sources.columns.arrow_column import read_matrix
from discreet.trust.sources.columns.decoding import known
from discreet.trust.sources.columns.postgres_column import WHOLE, PostgresColumn
from discreet.trust.sources.engine import name
from discreet.trust.sources.kept_rows import most_rows
from discreet.trust.sources.shielded import shielded, shielded_all
from discreet.trust.sources.source import Batched, sliced

START = "('x' || substr(md5(u::TEXT), 1, 15))::BIT(60)::BIGINT"
WRAPPED = 2**63
PIECE = 2**31  # steps that a whole number of four bytes holds; PostgreSQL adds these up faster


def postgres_columns(connection: AdbcConnection, query: str, columns: Sequence[str]) -> dict[str, PostgresColumn]:
    """The columns of a query with their types; none where this server would not decode as other engines do."""
    encoding, digest = connection.answered("SELECT current_setting('server_encoding'), md5('')")[0]
    if encoding != "UTF8" or digest != "d41d8cd98f00b204e9800998ecf8427e":
        return {}
    kinds = ", ".join(f"pg_typeof(records.{name(column)})::OID::BIGINT" for column in columns)
    records = f"(VALUES (1)) AS one (row) LEFT JOIN (SELECT * FROM ({query}) AS own LIMIT 0) AS records ON TRUE"
    types = zip(columns, connection.answered(f"SELECT {kinds} FROM {records}")[0], strict=True)
    return {column: PostgresColumn(column, oid) for column, oid in types}


class PostgresRows(Batched):
    """Decoded records in PostgreSQL as a source.

    Parameters
    ----------
    asked : str
        What is read, for errors.
    connection : AdbcConnection
        To PostgreSQL.
    schema, unit : Schema, Unit
        Public. What the records are; no unit has more rows than it may.
    records : str
        Public. The table, or the query in brackets, that has them.
    columns : mapping of str to str
        Public. How each column that can be decoded there is decoded, in SQL.
    raw : mapping of str to PostgresColumn
        Public. Those of them that may be grouped by as they are, and decoded afterwards.
    """

    def __init__(
        self,
        asked: str,
        connection: AdbcConnection,
        schema: Schema,
        unit: Unit,
        records: str,
        columns: Mapping[str, str],
        raw: Mapping[str, PostgresColumn],
    ) -> None:
        self.schema, self.unit = schema, unit
        self._asked, self._connection = asked, connection
        self._records, self._columns, self._raw = records, columns, raw

    def reads(self, columns: Sequence[str]) -> bool:
        """Whether all of these columns are decoded there."""
        return all(column in self._columns for column in columns)

    def sum(self, question: BoundedSum) -> Steps:
        if (tally := question.tally) is None:
            return exact_sum(question, self.batches(question.columns))
        for column in question.columns:
            known(self.schema, column)
        query = (
            self._grouped_late(question, tally) if self._groups_late(question, tally) else self._summed(question, tally)
        )
        return _total(tally, shielded(self._asked, lambda: self._connection.answered(query)))

    def _summed(self, question: BoundedSum, tally: Tally) -> str:
        """A query for what the rows of each cell add up to, in grid steps."""
        rows = self._chosen(question.columns)
        for level in tally.before:
            made = ", ".join(f"{one.sql} AS c{i}" for i, one in enumerate(level))
            rows = f"SELECT {made} FROM ({rows}) AS rows OFFSET 0"
        return _by_cell(tally, f"SELECT {', '.join([_cell(tally), *_steps(question, tally)])} FROM ({rows}) AS rows")

    def _groups_late(self, question: BoundedSum, tally: Tally) -> bool:
        """Whether the cell is made of categories alone, which are read for it alone."""
        places = tally.cell.places
        others = set().union(*(value.places for value in tally.values))
        known = all(question.columns[place] in self._raw for place in places) if not tally.before else False
        return known and bool(places) and not places & others

    def _grouped_late(self, question: BoundedSum, tally: Tally) -> str:
        """The same query, which groups by values as they are: so only those that occur are decoded, not each row's."""
        columns, by = question.columns, sorted(tally.cell.places)
        values = sorted(set().union(*(value.places for value in tally.values)))
        made = [f"{self._raw[columns[place]].raw} AS c{place}" for place in by]
        made += [f"{self._columns[columns[place]]} AS c{place}" for place in values]
        rows = f"SELECT {', '.join(made)} FROM {self._records} AS records OFFSET 0"
        own = [f"c{place}" for place in by]
        steps = ", ".join([*own, *_steps(question, tally)])
        sums = ", ".join([*own, *(f"sum(s{j}) AS s{j}" for j in range(len(tally.values)))])
        found = f"SELECT {sums} FROM (SELECT {steps} FROM ({rows}) AS rows) AS marked GROUP BY {', '.join(own)}"
        decoded = [
            f"{self._raw[columns[place]].decoded(self.schema.columns[columns[place]], f'c{place}')} AS c{place}"
            for place in by
        ]
        kept = ", ".join([*decoded, *(f"s{j}" for j in range(len(tally.values)))])
        cells = ", ".join([_cell(tally), *(f"s{j}" for j in range(len(tally.values)))])
        return _by_cell(tally, f"SELECT {cells} FROM (SELECT {kept} FROM ({found}) AS found OFFSET 0) AS decoded")

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        for column in columns:
            known(self.schema, column)
        for batch in self._batches(self._chosen(columns)):
            yield read_matrix(batch, len(columns))

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        read = () if condition is None else condition.columns
        places = {name: i for i, name in enumerate(read)}
        where = "TRUE" if condition is None else condition.sql(places)
        rows = f"SELECT c{len(read)} AS key FROM ({self._chosen([*read, column])}) AS rows WHERE {where}"
        counts = f"SELECT key, count(*) AS count FROM ({rows}) AS keys WHERE key IS NOT NULL GROUP BY key"
        for batch in self._batches(counts):
            keys, counted = batch.columns
            yield dict(zip(keys.to_pylist(), counted.to_pylist(), strict=True))

    def units(self) -> int:
        query = f"SELECT count(*) FROM {self._records} AS records"
        return int(shielded(self._asked, lambda: self._connection.answered(query)[0][0]))

    def _batches(self, query: str) -> Iterator[Any]:
        return shielded_all(self._asked, lambda: sliced(self._connection.streamed(query)))

    def _chosen(self, names: Sequence[str]) -> str:
        """A query for the columns of these names as c0, c1, ...; never none, for the number of rows."""
        columns = [self._columns[name] for name in names] or ["0"]
        decoded = ", ".join(f"{column} AS c{i}" for i, column in enumerate(columns))
        return f"SELECT {decoded} FROM {self._records} AS records OFFSET 0"  # else it decodes a value at each mention


def _cell(tally: Tally) -> str:
    return f"CAST({tally.cell.sql} AS INTEGER) AS cell"


def _steps(question: BoundedSum, tally: Tally) -> list[str]:
    """What a row adds, cut towards zero."""
    scale = Formula.constant(2.0**-question.grid.exponent)
    whole = "INTEGER" if question.bound.radius * 2.0**-question.grid.exponent < PIECE else "BIGINT"
    return [f"CAST(trunc({(value * scale).sql}) AS {whole}) AS s{j}" for j, value in enumerate(tally.values)]


def _by_cell(tally: Tally, marked: str) -> str:
    sums = ", ".join(["cell", *(f"sum(s{j})::TEXT AS s{j}" for j in range(len(tally.values)))])
    return f"SELECT {sums} FROM ({marked}) AS marked WHERE cell IS NOT NULL GROUP BY cell"


def _total(tally: Tally, cells: list[tuple[Any, ...]]) -> Steps:
    """Beyond 2**63 steps it wraps around, as `exact_sum` does."""
    total = np.zeros((tally.cells, len(tally.values)), dtype=np.int64)
    for cell, *numbers in cells:
        total[cell] = [(int(number or 0) + WRAPPED) % (2 * WRAPPED) - WRAPPED for number in numbers]
    return total.ravel()


def postgres_rows(asked: str, connection: AdbcConnection, query: str, schema: Schema) -> PostgresRows:
    """The records of a query, decoded again for every question."""
    raw = shielded(asked, lambda: postgres_columns(connection, query, list(schema.columns)))
    found = {column: own.decoded(schema.columns[column]) for column, own in raw.items()}
    columns = {column: decoded for column, decoded in found.items() if decoded is not None}
    categories = {column: raw[column] for column in columns if isinstance(schema.columns[column], Category)}
    return PostgresRows(asked, connection, schema, RECORD, f"({query})", columns, categories)


@unheld("cache")
class PostgresKept(PostgresRows):
    """At most `unit.rows` rows of each unit, set aside at once in a temporary table; `kept_rows` says which.

    The table is in the schema that PostgreSQL keeps for this connection alone. It goes with the connection, however
    that ends, and is made again where it is gone.

    Parameters
    ----------
    asked : str
        What is read, for errors.
    connection : AdbcConnection
        To PostgreSQL.
    schema, unit : Schema, Unit
        Public. What is read, and how many rows a unit may keep.
    decoded : str
        Public. A query for all records: the unit in `u`, the schema's columns in c0, c1, ...
    """

    def __init__(self, asked: str, connection: AdbcConnection, schema: Schema, unit: Unit, decoded: str) -> None:
        self.table = f"discreet_kept_{secrets.token_hex(8)}"
        columns = {column: f"c{i}" for i, column in enumerate(schema.columns)}
        super().__init__(asked, connection, schema, unit, f"pg_temp.{self.table}", columns, {})
        self._decoded = decoded
        self.make()
        weakref.finalize(self, connection.drop, self._every).atexit = False  # it goes with the connection

    def make(self) -> None:
        """Set the rows aside."""
        shielded(self._asked, self._make)

    def _make(self) -> None:
        kept, content, rows = self._records, ", ".join(self._columns.values()), most_rows(self.unit)
        records, sizes = f"{kept}_records", f"{kept}_sizes"
        crowded = f"SELECT 1 FROM {sizes} AS sizes WHERE sizes.u = records.u AND size > {rows}"
        numbered = f"SELECT {content}, size, {START} AS start, {place(self.schema)}"
        placed = f"{numbered} FROM {records} JOIN {sizes} USING (u) WHERE size > {rows}"
        chosen = f"SELECT {content} FROM ({placed}) AS placed WHERE {choice('start', rows)}"
        done = self._connection.done
        done(f"DROP TABLE IF EXISTS {self._every}")
        done(f"CREATE TEMPORARY TABLE {_bare(records)} AS SELECT * FROM ({self._decoded}) AS rows WHERE u IS NOT NULL")
        done(f"CREATE TEMPORARY TABLE {_bare(sizes)} AS SELECT u, count(*) AS size FROM {records} GROUP BY u")
        every = f"SELECT {content} FROM {records} AS records WHERE NOT EXISTS ({crowded})"
        done(f"CREATE TEMPORARY TABLE {_bare(kept)} AS {every} UNION ALL {chosen}")
        self._units = int(self._connection.answered(f"SELECT count(*) FROM {sizes}")[0][0])
        for table in (records, sizes):
            done(f"DROP TABLE {table}")
        done(f"ANALYZE {kept}")

    def there(self) -> bool:
        """Whether the table is there: a connection that was lost has taken it along."""
        return bool(self._connection.answered(f"SELECT to_regclass('{self._records}') IS NOT NULL")[0][0])

    def units(self) -> int:
        return self._units

    @property
    def _every(self) -> str:
        """What is set aside, and what may be left of an attempt to do so."""
        return f"{self._records}_records, {self._records}_sizes, {self._records}"


def _bare(table: str) -> str:
    return table.removeprefix("pg_temp.")


@dataclass(frozen=True)
class DecodedRecords:
    """All records of a query, as PostgreSQL decodes them.

    Parameters
    ----------
    query : str
        Public. In SQL: what identifies units in `u`, the schema's columns in c0, c1, ...
    numbered : bool
        Public. Whether units are whole numbers, and not texts.
    """

    query: str
    numbered: bool


def decoded_records(
    asked: str, connection: AdbcConnection, query: str, schema: Schema, unit: Unit
) -> DecodedRecords | None:
    """The records of a query as PostgreSQL decodes them; None where Arrow must."""
    known = [] if unit.column is None else [unit.column]
    own = shielded(asked, lambda: postgres_columns(connection, query, list(dict.fromkeys([*schema.columns, *known]))))
    named = "row_number() OVER ()" if unit.column is None else own[unit.column].unit if own else None
    columns = [own[column].decoded(kind) if own else None for column, kind in schema.columns.items()]
    if not own or named is None or None in columns:
        return None
    decoded = ", ".join([f"{named} AS u", *(f"{column} AS c{i}" for i, column in enumerate(columns))])
    numbered = unit.column is None or own[unit.column].oid in WHOLE
    return DecodedRecords(f"SELECT {decoded} FROM ({query}) AS records OFFSET 0", numbered)


def postgres_kept(
    asked: str, connection: AdbcConnection, query: str, schema: Schema, unit: Unit
) -> PostgresKept | None:
    """The rows that units may keep, set aside in PostgreSQL; None where Arrow must decode them."""
    found = decoded_records(asked, connection, query, schema, unit)
    return None if found is None else PostgresKept(asked, connection, schema, unit, found.query)
