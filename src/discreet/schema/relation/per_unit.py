"""A table with one row for each unit, of all its rows: nothing is left out, and nothing is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.core.checks import instead_of
from discreet.core.errors import NotPermitted, ParameterError, SchemaError
from discreet.schema.relation.relation_node import RelationNode, RowReach
from discreet.schema.relation.unit_column import ASKED, WAYS, UnitColumn
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class PerUnit(RelationNode):
    """One row for each unit that has rows, or for each of its groups.

    What a unit's row holds depends on its own rows alone, however many there are. So one unit moves one row; by groups,
    as many as it has groups, which `LimitedRows` then limits.

    Parameters
    ----------
    of : RelationNode
        Public. The rows.
    columns : tuple of UnitColumn
        Public. What they come to.
    by : tuple of str
        Public. Columns whose values make groups of a unit's rows; what is missing is a value by itself.
    """

    of: RelationNode
    columns: tuple[UnitColumn, ...]
    by: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        of: RelationNode,
        texts: Mapping[str, str],
        bounds: Mapping[str, tuple[float, float]],
        by: Sequence[str] = (),
    ) -> PerUnit:
        """From words such as "max of stay", by the names of the new columns."""
        own = of.protected
        if own is None or own.column is None:
            obstacle = "each row is a unit by itself, so that there is nothing to bring together"
            raise NotPermitted(ASKED, obstacle, 'Open the data with Unit("user", column=...).')
        if of.reach.both_ways or of.reach.weighted:
            of.check_owned(ASKED)
        if not texts and not by:
            raise ParameterError(ASKED, "nothing is asked of the rows of a unit", WAYS)
        for name in bounds:
            if name not in texts:
                raise ParameterError(ASKED, f"there are bounds for {name!r:.60}, which is not made", "Leave them out.")
        for name in by:
            if name not in of.schema.columns:
                raise SchemaError(
                    f"{ASKED} by {name!r:.60}", "there is no such column", instead_of(str(name), of.schema.columns)
                )
        if clash := [name for name in texts if name in by]:
            raise ParameterError(ASKED, f"two columns are called {clash[0]!r:.60}", "Give each a name of its own.")
        rows = of.reach.rows
        every = (UnitColumn.read(of.schema, name, text, bounds.get(name), rows) for name, text in texts.items())
        return cls(of.unlimited(), tuple(every), tuple(by))

    @cached_property
    def schema(self) -> Schema:
        return Schema(
            {**{name: self.of.schema.columns[name] for name in self.by}, **{one.name: one.kind for one in self.columns}}
        )

    @property
    def reach(self) -> RowReach:
        return RowReach(None if self.by else 1)

    @property
    def words(self) -> str:
        made = ", ".join(f"{one.name} = {one.words}" for one in self.columns)
        own = self.protected
        groups = "".join(f" and {name}" for name in self.by)
        return f"per {own.kind if own else 'unit'}{groups}{f': {made}' if made else ''}"

    def select(self, *inputs: str) -> str:
        places, start = self.of.places, len(self.by)
        keys = [f"c{places[name]} AS c{i}" for i, name in enumerate(self.by)]
        new = [f"{one.taken(places)} AS c{start + i}" for i, one in enumerate(self.columns)]
        taken = f"SELECT {', '.join(['u', *keys, *new])} FROM {inputs[0]} WHERE u IS NOT NULL"
        own = ["u", *(f"c{i}" for i in range(start))]
        made = [f"{one.gathered(f'c{start + i}')} AS c{start + i}" for i, one in enumerate(self.columns)]
        return f"SELECT {', '.join([*own, *made])} FROM ({taken}) GROUP BY {', '.join(own)}"
