"""Rows that Spark brings together and joins where they are: by the same SELECT as DuckDB, with the same bits."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from discreet.core.errors import NotPermitted
from discreet.core.formula import DOUBLE
from discreet.schema.relation import limited_rows
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.relation.stored_rows import StoredRows
from discreet.trust.sources.engine import engine
from discreet.trust.sources.shielded import shielded
from discreet.trust.sources.source import Source
from discreet.trust.sources.spark import ASKED, START, SparkFrame, given_back

DIALECT = {DOUBLE: "DOUBLE", limited_rows.START: START, "VARCHAR": "STRING"}


class SparkUnits(SparkFrame):
    """Rows that Spark makes of those of its data frames, and of public tables, and that are persisted there.

    Parameters
    ----------
    relation : RelationNode
        Public. What the rows are: chosen, computed, joined, and brought together by units. Weights are refused.
    tables : mapping of StoredRows or PublicRows to Source
        The records: those that are protected are all in Spark.
    """

    def __init__(self, relation: RelationNode, tables: Mapping[RelationNode, Source]) -> None:
        relation.check_bounded(ASKED)
        if refused := [node for node in relation.walked() if not node.anywhere]:
            obstacle = "Spark does not make such rows here"
            raise NotPermitted(refused[0].words, obstacle, "Join plainly, or read the records from files.")
        own = {node: source for node, source in tables.items() if node in set(relation.walked())}
        protected = [source for node, source in own.items() if isinstance(node, StoredRows)]
        frames = [source for source in protected if isinstance(source, SparkFrame)]
        if len(frames) < len(protected):
            obstacle = "one of the tables is in Spark, and another one is not"
            raise NotPermitted(relation.words, obstacle, "Read both from Spark, or both from elsewhere.")
        self.relation, self.schema, self.unit, self._decoded = relation, relation.schema, relation.unit, True
        names = {node: f"t{place}" for place, node in enumerate(own)}
        query = relation.query({node: f"{{{name}}}" for node, name in names.items()})  # with no texts of records in it
        for here, there in DIALECT.items():
            query = query.replace(here, there)
        session = frames[0].with_units().sparkSession
        rows = {names[node]: _frame(session, source) for node, source in own.items()}
        self._frame = shielded(ASKED, lambda: session.sql(f"SELECT * FROM {query}", **rows).persist())
        self._columns = {name: f"c{i}" for i, name in enumerate(self.schema.columns)}
        weakref.finalize(self, given_back, self._frame).atexit = False


def _frame(session: Any, source: Source) -> Any:
    """Decoded records in Spark; those of a public table are sent there, with texts as bytes."""
    if isinstance(source, SparkFrame):
        return source.with_units()
    connection = engine()
    source.copy_into(connection, "public")
    kinds = dict(connection.execute("SELECT column_name, column_type FROM (DESCRIBE public)").fetchall())
    columns = [f"CAST({name} AS BINARY) AS {name}" if kind == "VARCHAR" else name for name, kind in kinds.items()]
    return session.createDataFrame(connection.table("public").to_arrow_table()).selectExpr(*columns)
