"""Where rows come from: a table that is protected, or one that is public."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from discreet.core.neighbors import Unit
from discreet.schema.relation.relation_node import RelationNode, RowReach
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class StoredRows(RelationNode):
    """All rows of a protected table.

    Parameters
    ----------
    name : str
        Public. Of the table.
    described : Schema
        Public. Its columns.
    owner : Unit
        Public. Whose presence is hidden.
    number : int
        Public. Tells tables of the same name and form apart.
    """

    name: str
    described: Schema
    owner: Unit
    number: int = field(default_factory=count().__next__, repr=False)

    @property
    def schema(self) -> Schema:
        return self.described

    @property
    def protected(self) -> Unit:
        return self.owner

    @property
    def reach(self) -> RowReach:
        return RowReach(self.owner.rows if self.owner.column is None else None)

    @property
    def words(self) -> str:
        return f"table {self.name}"


@dataclass(frozen=True)
class PublicRows(RelationNode):
    """All rows of a table that is no secret: no unit moves any of them.

    Parameters
    ----------
    name : str
        Public. Of the table.
    described : Schema
        Public. Its columns.
    number : int
        Public. Tells tables of the same name and form apart.
    """

    name: str
    described: Schema
    number: int = field(default_factory=count().__next__, repr=False)

    @property
    def schema(self) -> Schema:
        return self.described

    @property
    def reach(self) -> RowReach:
        return RowReach(0)

    @property
    def words(self) -> str:
        return f"public table {self.name}"
