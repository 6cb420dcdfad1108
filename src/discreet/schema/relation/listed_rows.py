"""Rows whose texts are read as categories, once their values are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from discreet.core.errors import NotPermitted
from discreet.schema.relation.relation_node import RelationNode, RowReach
from discreet.schema.schema import Category, Schema


@dataclass(frozen=True)
class ListedRows(RelationNode):
    """The rows with lists of values in place of columns of text.

    Parameters
    ----------
    of : RelationNode
        Public. The rows.
    lists : tuple of (str, Category)
        Public. The columns, and their values: what was released, or is known without the data.
    """

    of: RelationNode
    lists: tuple[tuple[str, Category], ...]
    anywhere: ClassVar[bool] = False

    @classmethod
    def under(cls, of: RelationNode, schema: Schema) -> ListedRows:
        """The rows with the lists that this schema has in place of columns of text."""
        changed = ((name, kind) for name, kind in schema.columns.items() if kind != of.schema.columns[name])
        return cls(of, tuple((name, kind) for name, kind in changed if isinstance(kind, Category)))

    @cached_property
    def schema(self) -> Schema:
        return self.of.schema.listing(dict(self.lists))

    @property
    def reach(self) -> RowReach:
        return self.of.reach

    @property
    def words(self) -> str:
        return f"{', '.join(name for name, _ in self.lists)} by listed values"

    def select(self, *inputs: str) -> str:
        """Refused: engines join and bring together texts, and list values at the end."""
        obstacle = "texts are read by a list before rows are joined or brought together"
        raise NotPermitted(self.words, obstacle, "Join first, and list the values of what comes out.")
