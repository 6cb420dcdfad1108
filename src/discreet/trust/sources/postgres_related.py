"""Rows that PostgreSQL brings together and joins where they are: by the same SELECT as DuckDB, with the same bits."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from discreet.core.condition import Condition
from discreet.core.grid import Array, Steps
from discreet.questions.question import BoundedSum
from discreet.schema.relation import limited_rows
from discreet.schema.relation.listed_rows import ListedRows
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.relation.stored_rows import StoredRows
from discreet.schema.schema import Category, Text
from discreet.trust.sources.adbc_connection import AdbcConnection
from discreet.trust.sources.columns.arrow_column import arrow, places
from discreet.trust.sources.columns.postgres_column import place_in_list
from discreet.trust.sources.engine import engine
from discreet.trust.sources.postgres import START, DecodedRecords, PostgresRows
from discreet.trust.sources.query import Query
from discreet.trust.sources.relation import ENGINE_LOCK
from discreet.trust.sources.shielded import shielded
from discreet.trust.sources.source import Source

ASKED = "read related tables"
DIALECT = {"AS DOUBLE)": "AS FLOAT8)", limited_rows.START: START}


class PostgresRelated(PostgresRows):
    """Rows that PostgreSQL makes of those of its tables, and of public ones, in a temporary table of the connection.

    Nothing is read before the first question, and then everything at once, before it is charged. The table goes with
    the connection, however that ends, and is made again where it is gone.

    Parameters
    ----------
    relation : RelationNode
        Public. What the rows are: chosen, computed, joined, and brought together by units.
    queries : mapping of StoredRows to Query
        The protected records, all in one database.
    public : mapping of PublicRows to Arrow tables
        Public. The rows of the others, decoded.
    connection : AdbcConnection
        To this database.
    """

    def __init__(
        self,
        relation: RelationNode,
        queries: Mapping[RelationNode, Query],
        public: Mapping[RelationNode, Any],
        connection: AdbcConnection,
        records: Mapping[RelationNode, DecodedRecords],
    ) -> None:
        self.relation, self._queries, self._public, self._protected = relation, queries, public, records
        self.table = f"discreet_kept_{secrets.token_hex(8)}"
        columns = {name: f"c{i}" for i, name in enumerate(relation.schema.columns)}
        super().__init__(ASKED, connection, relation.schema, relation.unit, f"pg_temp.{self.table}", columns, {})
        self._names = {node: f"{self.table}_{number}" for number, node in enumerate([*records, *public])}
        self.reopened = lambda other: self.listed(ListedRows.under(relation, other))
        tables = ", ".join(f"pg_temp.{name}" for name in [*self._names.values(), self.table])
        self._every = tables
        weakref.finalize(self, connection.drop, tables).atexit = False  # it goes with the connection

    def check_ready(self) -> None:
        """Connect again, where that is needed, and make the rows, if they are not there."""
        with ENGINE_LOCK:
            for query in self._queries.values():
                query.check_ready()
            if not shielded(ASKED, self._there):
                shielded(ASKED, self._make)

    def sum(self, question: BoundedSum) -> Steps:
        with ENGINE_LOCK:
            self.check_ready()
            return super().sum(question)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        with ENGINE_LOCK:
            self.check_ready()
            yield from super().batches(columns)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        with ENGINE_LOCK:
            self.check_ready()
            yield from super().keys(column, condition)

    def units(self) -> int:
        self.check_ready()
        counted = f"SELECT count(DISTINCT u) FROM {self._records}"
        return int(shielded(ASKED, lambda: self._connection.answered(counted)[0][0]))

    def texts(self, column: str) -> list[str]:
        """All texts of a column, each once."""
        self.check_ready()
        own = self._columns[column]
        query = f"SELECT DISTINCT {own} FROM {self._records} WHERE {own} IS NOT NULL"
        return [text for (text,) in shielded(ASKED, lambda: self._connection.answered(query))]

    def listed(self, by: ListedRows) -> RelistedPostgres:
        """The same rows, with columns of text that are read as categories."""
        return RelistedPostgres(self, by)

    def _there(self) -> bool:
        return bool(self._connection.answered(f"SELECT to_regclass('{self._records}') IS NOT NULL")[0][0])

    def _make(self) -> None:
        """Its tables are decoded once each, joined, and let go of."""
        done = self._connection.done
        done(f"DROP TABLE IF EXISTS {self._every}")
        texts = not all(one.numbered for one in self._protected.values())
        for node, found in self._protected.items():
            alike = 'u::TEXT COLLATE "C" AS u' if texts and found.numbered else "u"
            columns = ", ".join([alike, *(f"c{i}" for i in range(len(node.schema.columns)))])
            done(f"CREATE TEMPORARY TABLE {self._names[node]} AS SELECT {columns} FROM ({found.query}) AS found")
        for node, rows in self._public.items():
            self._connection.sent(self._names[node], rows)
            for number, kind in enumerate(node.schema.columns.values()):
                if isinstance(kind, Text):
                    done(f'ALTER TABLE {self._names[node]} ALTER c{number} TYPE TEXT COLLATE "C"')
        named = {node: f"pg_temp.{name}" for node, name in self._names.items()}
        for name in named.values():
            done(f"ANALYZE {name}")
        query = self.relation.query(named)  # with no texts of records in it
        for here, there in DIALECT.items():
            query = query.replace(here, there)
        done(f"CREATE TEMPORARY TABLE {self.table} AS SELECT * FROM {query} AS made")
        done(f"DROP TABLE {', '.join(named.values())}")
        done(f"ANALYZE {self._records}")


class RelistedPostgres(PostgresRelated):
    """The rows of another one, where the places of their texts in lists are spelt out."""

    def __init__(self, rows: PostgresRelated, relation: ListedRows) -> None:
        columns = {**rows._columns}
        for name, category in relation.lists:
            columns[name] = place_in_list(columns[name], _places(rows.texts(name), category))
        PostgresRows.__init__(self, ASKED, rows._connection, relation.schema, relation.unit, rows._records, columns, {})
        self.relation, self._rows = relation, rows
        self.reopened = lambda other: self.listed(ListedRows.under(relation, other))

    def check_ready(self) -> None:
        """Make the rows, if they are not there."""
        self._rows.check_ready()


def related_in_postgres(relation: RelationNode, tables: Mapping[RelationNode, Source]) -> PostgresRelated | None:
    """The rows of a relation, made in PostgreSQL; None where it cannot make all of them."""
    relation.check_bounded(ASKED)
    own = {node: tables[node] for node in dict.fromkeys(relation.walked()) if node in tables}
    protected = {node: source for node, source in own.items() if isinstance(node, StoredRows)}
    queries: dict[RelationNode, Query] = {node: one for node, one in protected.items() if isinstance(one, Query)}
    if len(queries) < len(protected) or not all(node.anywhere for node in relation.walked()):
        return None
    found = {node: query.decoded() for node, query in queries.items()}
    ways = {node: one for node, one in found.items() if one is not None}
    if not queries or len(ways) < len(queries) or len({query.place for query in queries.values()}) > 1:
        return None
    public = {node: _decoded(source) for node, source in own.items() if node not in queries}
    if any(_has_zeros(rows) for rows in public.values()):
        return None
    connection, _ = next(iter(ways.values()))
    return PostgresRelated(relation, queries, public, connection, {node: one[1] for node, one in ways.items()})


def _decoded(source: Source) -> Any:
    """The rows of a public table, as an Arrow table."""
    connection = engine()
    shielded(ASKED, lambda: source.copy_into(connection, "public"))
    return connection.table("public").to_arrow_table()


def _has_zeros(rows: Any) -> bool:
    """Whether a text has a zero among its letters, which PostgreSQL cannot hold."""
    types = arrow().types
    texts = (one for one in rows.columns if types.is_string(one.type) or types.is_large_string(one.type))
    return any("\0" in (text or "") for one in texts for text in one.to_pylist())


def _places(texts: Sequence[str], category: Category) -> dict[str, int]:
    """The places of those texts that are in a list."""
    found = places(arrow().array(texts, arrow().large_string()), category).to_pylist()
    return {text: place for text, place in zip(texts, found, strict=True) if place is not None}
