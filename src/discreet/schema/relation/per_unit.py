"""A table with one row for each unit, of all its rows: nothing is left out, and nothing is paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from discreet.core.errors import NotPermitted, ParameterError
from discreet.schema.relation.relation_node import RelationNode, RowReach, listed
from discreet.schema.relation.unit_column import ASKED, WAYS, UnitColumn
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class PerUnit(RelationNode):
    """One row for each unit that has rows.

    What a unit's row holds depends on its own rows alone, however many there are. So one unit moves one row.

    Parameters
    ----------
    of : RelationNode
        Public. The rows.
    columns : tuple of UnitColumn
        Public. What they come to.
    """

    of: RelationNode
    columns: tuple[UnitColumn, ...]

    @classmethod
    def read(cls, of: RelationNode, texts: Mapping[str, str], bounds: Mapping[str, tuple[float, float]]) -> PerUnit:
        """From words such as "max of stay", by the names of the new columns."""
        own = of.protected
        if own is None or own.column is None:
            obstacle = "each row is a unit by itself, so that there is nothing to bring together"
            raise NotPermitted(ASKED, obstacle, 'Open the data with Unit("user", column=...).')
        if of.reach.both_ways or of.reach.weighted:
            of.check_owned(ASKED)
        if not texts:
            raise ParameterError(ASKED, "nothing is asked of the rows of a unit", WAYS)
        for name in bounds:
            if name not in texts:
                raise ParameterError(ASKED, f"there are bounds for {name!r:.60}, which is not made", "Leave them out.")
        rows = of.reach.rows
        every = (UnitColumn.read(of.schema, name, text, bounds.get(name), rows) for name, text in texts.items())
        return cls(of.unlimited(), tuple(every))

    @cached_property
    def schema(self) -> Schema:
        return Schema({one.name: one.kind for one in self.columns})

    @property
    def reach(self) -> RowReach:
        return RowReach(1)

    @property
    def words(self) -> str:
        made = ", ".join(f"{one.name} = {one.words}" for one in self.columns)
        own = self.protected
        return f"per {own.kind if own else 'unit'}: {made}"

    def select(self, *inputs: str) -> str:
        places = self.of.places
        taken = f"SELECT u, {listed([one.taken(places) for one in self.columns])} FROM {inputs[0]} WHERE u IS NOT NULL"
        made = listed([one.gathered(f"c{i}") for i, one in enumerate(self.columns)])
        return f"SELECT u, {made} FROM ({taken}) GROUP BY u"
