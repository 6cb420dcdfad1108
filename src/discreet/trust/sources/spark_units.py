"""Rows of units that Spark brings together where they are: the same SELECT as in DuckDB, and the same bits."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

from discreet.core.errors import NotPermitted
from discreet.core.formula import DOUBLE
from discreet.schema.relation.per_unit import PerUnit
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.relation.row_wise import ComputedRows, FilteredRows
from discreet.schema.relation.stored_rows import StoredRows
from discreet.trust.sources.shielded import shielded
from discreet.trust.sources.source import Source
from discreet.trust.sources.spark import ASKED, SparkFrame, given_back

HERE = (StoredRows, FilteredRows, ComputedRows, PerUnit)


class SparkUnits(SparkFrame):
    """A table with one row for each unit of a Spark data frame, made by Spark and persisted there.

    Parameters
    ----------
    relation : RelationNode
        Public. What the rows are: chosen, computed, and brought together by units. Joins are refused.
    tables : mapping of StoredRows to SparkFrame
        The records.
    """

    def __init__(self, relation: RelationNode, tables: Mapping[RelationNode, Source]) -> None:
        if refused := [node for node in relation.walked() if not isinstance(node, HERE)]:
            obstacle = "Spark brings rows together by units, and joins none here"
            raise NotPermitted(refused[0].words, obstacle, "Join in Spark's own SQL, or read the records from files.")
        self.relation, self.schema, self.unit = relation, relation.schema, relation.unit
        stored = next(iter(relation.walked()))
        source = tables[stored]
        assert isinstance(source, SparkFrame)
        rows = source.with_units()
        query = _query(relation).replace(DOUBLE, "DOUBLE")  # there are no texts in it, and columns are c0, c1, ...
        self._frame = shielded(ASKED, lambda: rows.sparkSession.sql(f"SELECT * FROM {query}", stored=rows).persist())
        self._columns = {name: f"c{i}" for i, name in enumerate(self.schema.columns)}
        weakref.finalize(self, given_back, self._frame).atexit = False


def _query(node: RelationNode) -> str:
    if isinstance(node, StoredRows):
        return "{stored}"
    return f"({node.select(*map(_query, node.inputs))})"
