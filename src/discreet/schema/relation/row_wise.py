"""What is done with each row by itself: it is chosen, or more columns are computed for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from discreet.core.condition import Condition
from discreet.schema.condition_text import condition_of
from discreet.schema.expressed import Expressed
from discreet.schema.relation.relation_node import RelationNode, RowReach
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class FilteredRows(RelationNode):
    """The rows that fulfil a condition.

    Parameters
    ----------
    of : RelationNode
        Public. The rows.
    condition : Condition
        Public. On each row by itself.
    """

    of: RelationNode
    condition: Condition

    @classmethod
    def read(cls, of: RelationNode, text: str) -> FilteredRows:
        """With a condition in words; see `condition_of`."""
        return cls(of, condition_of(text, of.schema))

    @property
    def schema(self) -> Schema:
        return self.of.schema

    @property
    def reach(self) -> RowReach:
        return self.of.reach

    @property
    def words(self) -> str:
        return f"where {self.condition}"

    def unlimited(self) -> RelationNode:
        return replace(self, of=self.of.unlimited())

    def select(self, *inputs: str) -> str:
        return f"SELECT * FROM {inputs[0]} WHERE {self.condition.sql(self.places)}"


@dataclass(frozen=True)
class ComputedRows(RelationNode):
    """The rows with more columns, each computed from one row by itself.

    Parameters
    ----------
    of : RelationNode
        Public. The rows.
    columns : tuple of Expressed
        Public. What is computed. None of them reads another.
    """

    of: RelationNode
    columns: tuple[Expressed, ...]

    @classmethod
    def read(
        cls, of: RelationNode, texts: Mapping[str, str], bounds: Mapping[str, tuple[float, float]]
    ) -> ComputedRows:
        """With expressions in words, and bounds where those that follow are too wide; see `expression_of`."""
        return cls(of, Expressed.every(of.schema, texts, bounds))

    @cached_property
    def schema(self) -> Schema:
        return Schema({**self.of.schema.columns, **{one.name: one.number for one in self.columns}})

    @property
    def reach(self) -> RowReach:
        return self.of.reach

    @property
    def words(self) -> str:
        return "with " + "; ".join(f"{one.name} = {one.shown}" for one in self.columns)

    def unlimited(self) -> RelationNode:
        return replace(self, of=self.of.unlimited())

    def select(self, *inputs: str) -> str:
        first = len(self.of.schema.columns)
        new = [f"{one.formula(self.of.places).sql} AS c{first + i}" for i, one in enumerate(self.columns)]
        computed = f"SELECT *, {', '.join(new)} FROM {inputs[0]}"
        kept = ", ".join(["u", *(f"c{i}" for i in range(first))])
        moved = [f"{one.moved(first + i).sql} AS c{first + i}" for i, one in enumerate(self.columns)]
        return f"SELECT {kept}, {', '.join(moved)} FROM ({computed})"
