"""What the rows of a data set are made of: a relation, and the records of its tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.bits import Bits
from discreet.core.checks import shown
from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.held import Secret
from discreet.core.neighbors import Neighbors
from discreet.schema.condition_text import condition_of
from discreet.schema.relation.joined_rows import ASKED, JoinedRows, Pairs, names_beside
from discreet.schema.relation.limited_rows import LimitedRows
from discreet.schema.relation.listed_rows import ListedRows
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.relation.row_wise import ComputedRows, FilteredRows
from discreet.schema.relation.stored_rows import PublicRows, StoredRows
from discreet.schema.relation.weighted_join import WeightedJoin
from discreet.schema.schema import Category
from discreet.trust.curator import Curator
from discreet.trust.derived_trust import DerivedTrust
from discreet.trust.filtered_trust import FilteredTrust
from discreet.trust.related_trust import RelatedTrust
from discreet.trust.sources.postgres_related import PostgresRelated, related_in_postgres
from discreet.trust.sources.related_rows import RelatedRows, most_alike
from discreet.trust.sources.source import Source
from discreet.trust.sources.spark import SparkFrame
from discreet.trust.sources.spark_units import SparkUnits
from discreet.trust.sources.weighted_rows import WeightedRows
from discreet.trust.trust_model import TrustModel

On = str | Sequence[str] | Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class RelatedTables(Secret):
    """A relation, and who reads its tables.

    Parameters
    ----------
    node : RelationNode
        Public. What the rows are.
    tables : mapping of StoredRows or PublicRows to Source
        The records of each table that can be read row by row.
    bits : Bits, optional
        Where noise comes from.
    """

    node: RelationNode
    tables: Mapping[RelationNode, Source]
    bits: Bits | None = None

    @classmethod
    def of(cls, trust: TrustModel, name: str = "records") -> RelatedTables:
        """One table that a trust model holds."""
        stored = StoredRows(name, trust.schema, trust.unit)
        limited = trust.unit.column is not None and not trust.unit.pooled
        node = LimitedRows(stored, trust.unit.rows) if limited else stored
        if type(trust) is not Curator:
            return cls(node, {})
        return cls(node, {stored: trust.source}, trust.bits)

    def trust_after(self, below: TrustModel, neighbors: Neighbors) -> TrustModel:
        """Who answers questions about these rows, where another one answers those about the rows before the last step.

        What is done row by row is done with the questions, by whatever trust model. All else takes somebody who holds
        the rows.
        """
        node = self.node
        match node:
            case FilteredRows(condition=condition):
                return filtered_by(below, condition)
            case ComputedRows(columns=columns):
                inner = below.trust if isinstance(below, FilteredTrust) else below
                derived = DerivedTrust.over(inner, columns)
                return FilteredTrust(derived, below.condition) if isinstance(below, FilteredTrust) else derived
        if any(isinstance(one, StoredRows | PublicRows) and one not in self.tables for one in node.walked()):
            obstacle = "it takes a curator who holds all rows of each unit"
            raise NotPermitted(node.words, obstacle, "Trust a curator, or let every party prepare such a table.")
        return RelatedTrust(self._source(), neighbors, bits=self.bits)

    def _source(self) -> RelatedRows | PostgresRelated | SparkUnits:
        """The rows: made by Spark or PostgreSQL where they are there, else by an engine here."""
        if any(isinstance(one, SparkFrame) for one in self.tables.values()):
            return SparkUnits(self.node, self.tables)
        if self.node.reach.weighted:
            return WeightedRows(self.node, self.tables)
        return related_in_postgres(self.node, self.tables) or RelatedRows(self.node, self.tables)

    def beside(self, other: RelatedTables, on: On | None, *, most: int | None, how: str, prefix: str) -> RelatedTables:
        """These rows joined with others; see `PrivateData.join`."""
        left, right = self.node, other.node
        if how not in ("inner", "left", "weighted"):
            raise ParameterError(ASKED, f"how is {how!r:.40}", 'Give "inner", "left" or "weighted".')
        pairs, by_unit = _agreeing(left, right, on)
        tables = {**self.tables, **other.tables}
        public = right.protected is None
        left.check_bounded(ASKED)
        if public and most is None and all(two in right.schema.columns for _, two in pairs):
            most = most_alike(other.tables[right], right, [two for _, two in pairs])
        keys = {two for _, two in pairs}
        added = tuple(name for name in right.schema.columns if name not in keys)
        names = names_beside(left.schema, added, prefix, {})
        if how == "weighted":
            if most is not None or by_unit:
                obstacle = "pairs of different units have weights, and none is left out"
                raise ParameterError(f"weighted {ASKED}", obstacle, "Leave out `most` and the units.")
            return RelatedTables(WeightedJoin(left, right, pairs, names), tables, self.bits)
        joined = JoinedRows(left, right, pairs, by_unit, most, how == "left", names)
        return RelatedTables(joined, tables, self.bits)

    def listing(self, lists: Mapping[str, Category]) -> RelatedTables:
        """The same rows, with columns of text that are read as categories of these values."""
        return dataclasses.replace(self, node=ListedRows(self.node, tuple(lists.items())))

    @property
    def among(self) -> str:
        """What is done with the tables, to be put behind what is asked: nothing, if all rows of one table are meant."""
        return _among(self.node)


def filtered_by(trust: TrustModel, condition: Condition) -> FilteredTrust:
    """The records that fulfil one more condition."""
    if not isinstance(trust, FilteredTrust):
        return FilteredTrust(trust, condition)
    both = condition_of(f"({trust.condition}) and ({condition})", trust.schema)
    return FilteredTrust(trust.trust, both)


def _among(node: RelationNode) -> str:
    columns: list[str] = []
    conditions: list[str] = []
    while isinstance(node, FilteredRows | ComputedRows | ListedRows):
        if isinstance(node, ComputedRows):
            columns[:0] = [f"{one.name} = {one.shown}" for one in node.columns]
        if isinstance(node, FilteredRows):
            conditions.insert(0, str(node.condition))
        node = node.of
    before = _before(node)
    derived = f" with {'; '.join(columns)}" if columns else ""
    return f"{before}{derived}{f' where {_all_of(conditions)}' if conditions else ''}"


def _before(node: RelationNode) -> str:
    """What was done before rows were chosen and computed."""
    if isinstance(node, StoredRows | PublicRows) or (isinstance(node, LimitedRows) and isinstance(node.of, StoredRows)):
        return ""
    if isinstance(node, JoinedRows | WeightedJoin):
        others = ", ".join(one.name for one in node.right.walked() if isinstance(one, StoredRows | PublicRows))
        return f"{_among(node.left)} {node.words} with {others}{_among(node.right)}"
    return "".join([*map(_among, node.inputs), f" {node.words}"])


def _all_of(conditions: Sequence[str]) -> str:
    return conditions[0] if len(conditions) == 1 else " and ".join(f"({one})" for one in conditions)


def _agreeing(left: RelationNode, right: RelationNode, on: On | None) -> tuple[Pairs, bool]:
    """The columns that must agree, and whether rows must be of the same unit."""
    own = left.protected
    unit = None if own is None else own.column
    pairs: list[tuple[Any, Any]]
    match on:
        case None:
            pairs = [] if unit is None else [(unit, unit)]
        case str():
            pairs = [(on, on)]
        case Mapping():
            pairs = list(on.items())
        case _:
            pairs = [(one, one) for one in on] if isinstance(on, Sequence) else []
    if on is not None and (not pairs or not all(isinstance(one, str) for pair in pairs for one in pair)):
        raise ParameterError(ASKED, f"on is {shown(on)}", 'Write on="ward", or {"ward": "the other\'s name"}.')
    if right.protected is None and on is None:
        raise ParameterError(ASKED, "nothing says which columns must agree", 'Write on="ward".')
    if right.protected is None:
        return tuple(pairs), False
    same = [(unit, unit)] if right.protected.column == unit and unit is not None else []
    return tuple(pair for pair in pairs if pair not in same), any(pair in same for pair in pairs)
