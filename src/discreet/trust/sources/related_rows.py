"""The rows of a relation of several tables: made once by an engine of its own, and kept until the source goes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import count
from typing import Any

from discreet.core.condition import Condition
from discreet.core.grid import Array, Steps
from discreet.core.held import unheld
from discreet.questions.question import BoundedSum
from discreet.schema.relation.listed_rows import ListedRows
from discreet.schema.relation.per_unit import PerUnit
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.schema import Category
from discreet.trust.sources.columns.arrow_column import arrow, places
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.engine import counting, engine
from discreet.trust.sources.shielded import shielded
from discreet.trust.sources.source import Source

ASKED = "read related tables"
KEPT = "kept"
NUMBERS = count()
UNIT_BITS = 18  # of numbers of units that are counted in an array: two or more such counts may be made at once


@unheld("own turns")
class RelatedRows(DecodedTable):
    """Rows that are made of those of other sources, as a relation says.

    Nothing is read before the first question, and then everything at once, before it is charged.

    Parameters
    ----------
    relation : RelationNode
        Public. What the rows are.
    tables : mapping of StoredRows or PublicRows to Source
        The records of each table.
    """

    def __init__(self, relation: RelationNode, tables: Mapping[RelationNode, Source]) -> None:
        relation.check_bounded(ASKED)
        super().__init__(ASKED, self._table, relation.schema, relation.unit)
        self.relation, self._tables = relation, dict(tables)
        self._lock, self._connection, self._name = threading.RLock(), None, KEPT
        self.reopened = lambda other: self.listed(ListedRows.under(relation, other))

    def check_ready(self) -> None:
        """Make the rows, if they are not made yet."""
        with self._lock:
            if self._connection is None:
                self._connection = shielded(self._asked, self._made)

    def _made(self) -> Any:
        return made(self.relation, self._tables)

    def sum(self, question: BoundedSum) -> Steps:
        self.check_ready()
        return super().sum(question)

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        self.check_ready()
        return super().sums(questions)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        self.check_ready()
        return super().batches(columns)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        self.check_ready()
        return super().keys(column, condition)

    def units(self) -> int:
        self.check_ready()
        counted = f"SELECT count(DISTINCT u) FROM {self._name}"
        return int(shielded(self._asked, lambda: self.cursor().execute(counted).fetchall()[0][0]))

    def listed(self, by: ListedRows) -> RelistedRows:
        """The same rows, with columns of text that are read as categories."""
        return RelistedRows(self, by)

    def cursor(self) -> Any:
        """Another way into the engine that has the rows."""
        self.check_ready()
        assert self._connection is not None
        return self._connection.cursor()

    def _table(self) -> Any:
        return self.cursor().table(self._name)


class RelistedRows(RelatedRows):
    """The rows of another one, with columns of text that are read as categories: a table more in the same engine.

    Parameters
    ----------
    rows : RelatedRows
        The others.
    listed : ListedRows
        Public. Which columns are read so, and their values.
    """

    def __init__(self, rows: RelatedRows, listed: ListedRows) -> None:
        super().__init__(listed, {})
        self._source, self._lists = rows, dict(listed.lists)
        self._name = f"kept_{next(NUMBERS)}"

    def _made(self) -> Any:
        cursor = self._source.cursor()
        replaced, joins = [], []
        for number, (name, category) in enumerate(self._lists.items()):
            column, known = f"c{self.relation.places[name]}", f"{self._name}_{number}"
            _list(cursor, self._source._name, column, category, known)
            replaced.append(f"{known}.place AS {column}")
            joins.append(f"LEFT JOIN {known} ON k.{column} = {known}.t")
        columns = f"k.* REPLACE ({', '.join(replaced)})"
        cursor.execute(
            f"CREATE TABLE {self._name} AS SELECT {columns} FROM {self._source._name} AS k {' '.join(joins)}"
        )
        for number in range(len(self._lists)):
            cursor.execute(f"DROP TABLE {self._name}_{number}")
        return cursor


def made(relation: RelationNode, tables: Mapping[RelationNode, Source]) -> Any:
    """A connection with the rows of a relation in a table: its tables are read once each, and let go of."""
    connection = engine()
    names: dict[RelationNode, str] = {}
    queries: dict[str, str] = {}
    for node in relation.walked():
        if node in tables and node not in names:
            names[node] = f"table_{len(names)}"
            query = tables[node].query_for(connection)
            if query is None:
                tables[node].copy_into(connection, names[node])
            else:
                queries[names[node]] = query
    _name_alike(connection, [name for name in names.values() if name not in queries], queries)
    once = ", ".join(f"{name} AS MATERIALIZED ({query})" for name, query in queries.items())
    before = f"WITH {once} " if once else ""
    lean = not any(isinstance(node, PerUnit) for node in relation.walked())
    with counting(connection, UNIT_BITS) if lean else nullcontext():
        connection.execute(f"CREATE TABLE kept AS {before}SELECT * FROM {relation.query(names)}")
    for name in names.values():
        if name not in queries:
            connection.execute(f"DROP TABLE {name}")
    return connection


def _name_alike(connection: Any, tables: Sequence[str], queries: dict[str, str]) -> None:
    """Let units have names in all tables, where they are not numbers in all of them."""
    kinds = {name: str(connection.table(name).types[0]) for name in tables}
    kinds |= {name: str(connection.sql(query).types[0]) for name, query in queries.items()}
    if "VARCHAR" not in kinds.values():
        return
    for name, kind in kinds.items():
        if name in queries:
            queries[name] = f"SELECT * REPLACE (CAST(u AS VARCHAR) AS u) FROM ({queries[name]})"
        elif kind != "VARCHAR":
            connection.execute(f"ALTER TABLE {name} ALTER u TYPE VARCHAR")


def _list(cursor: Any, table: str, column: str, category: Category, known: str) -> None:
    """Make a table of all texts of a column, and their places in a list."""
    texts = cursor.sql(f"SELECT DISTINCT {column} AS t FROM {table} WHERE {column} IS NOT NULL").to_arrow_table()
    text = texts.column(0).combine_chunks()
    found = arrow().table({"t": text, "place": arrow().array(places(text, category)).cast(arrow().int32())})
    cursor.from_arrow(found).create(known)


def most_alike(source: Source, table: RelationNode, keys: Sequence[str]) -> int:
    """How many rows of a public table have the same values of some columns, at most."""
    connection = engine()
    shielded(ASKED, lambda: source.copy_into(connection, "public"))
    columns = ", ".join(f"c{table.places[name]}" for name in keys)
    sizes = f"SELECT count(*) AS size FROM public GROUP BY {columns}"
    return int(connection.execute(f"SELECT coalesce(max(size), 0) FROM ({sizes})").fetchall()[0][0])
