"""Tables that a FROM joins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.core.checks import instead_of
from discreet.core.held import unheld
from discreet.query.select.sql_rows import SqlRows
from discreet.query.select.sql_text import SqlText, kind_of
from discreet.trust.public_table import PublicTable

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

WAYS = "Write JOIN wards ON visits.ward = wards.ward, or USING (ward)."
Pair = tuple[str, str]


@unheld("one call")
@dataclass
class SqlJoins:
    """Reads tables and joins, from left to right.

    Parameters
    ----------
    sql : SqlText
        The statement.
    most : int, optional
        Public. The most rows that a row meets, in joins of protected tables.
    table : callable
        Gives the rows of one table or query.
    stated : mapping of str to pairs of str
        Public. By what tables belong together with the first one, where that is said with them.
    """

    sql: SqlText
    most: int | None
    table: Callable[[Node], SqlRows | PublicTable]
    stated: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)

    def read(self, first: Node, joins: list[Node]) -> SqlRows:
        """The rows of all of them."""
        found = self.table(first)
        if isinstance(found, PublicTable):
            return self._after_public(found, first, joins)
        found.tables = {_called(first): dict(found.names)}
        return self._all(found, joins)

    def _all(self, found: SqlRows, joins: list[Node]) -> SqlRows:
        for join in joins:
            found = self._joined(found, self.table(join.this), join, _called(join.this), join.this)
        return found

    def _after_public(self, public: PublicTable, first: Node, joins: list[Node]) -> SqlRows:
        """The same where the first table is public: the second one stands before it."""
        if not joins or joins[0].args.get("side"):
            self.sql.refused(first, "the table is public, and nothing about it is asked", "Name a protected table.")
        second = joins[0].this
        found = self.table(second)
        if isinstance(found, PublicTable):
            self.sql.refused(second, "both tables are public", "Begin with a protected table.")
        found.tables = {_called(second): dict(found.names)}
        return self._all(self._joined(found, public, joins[0], _called(first), second), joins[1:])

    def _joined(self, left: SqlRows, right: SqlRows | PublicTable, join: Node, called: str, at: Node) -> SqlRows:
        side, kind = (str(join.args.get(name) or "").upper() for name in ("side", "kind"))
        known = {"this", "on", "using", "side", "kind"}
        if (
            side not in ("", "LEFT")
            or kind not in ("", "INNER", "OUTER")
            or any(found for name, found in join.args.items() if name not in known)
        ):
            self.sql.refused(at, "tables are not joined in this way", WAYS)
        if called in left.tables:
            self.sql.refused(at, f"two tables are called {called!r:.60}", f"Write {called} AS another.")
        names = {one: one for one in right.schema.columns} if isinstance(right, PublicTable) else dict(right.names)
        on = self._agreeing(left, right, names, join, called)
        other = right if isinstance(right, PublicTable) else right.data
        taken = {*left.data.schema.columns}
        prefix = "" if not taken & ({*other.schema.columns} - {own for _, own in on}) else f"{called}_"
        most = None if isinstance(right, PublicTable) or (not on_keys(left, on)) else self.most
        how, data = "left" if side == "LEFT" else "inner", left.data
        left.data = self.sql.showing(at, lambda: data.join(other, dict(on), most=most, how=how, prefix=prefix))
        keys = {own: shown for shown, own in on}
        beside = {shown: keys.get(own, f"{prefix}{own}") for shown, own in names.items()}
        left.tables[called] = {shown: own for shown, own in beside.items() if own in left.data.schema.columns}
        own = left.tables[called].items()
        shared = {name for name, column in own if left.names.get(name, column) != column}
        left.names = {name: column for name, column in (*left.names.items(), *own) if name not in shared}
        if not isinstance(right, PublicTable):
            left.bounds = right.bounds
        return left

    def _agreeing(
        self, left: SqlRows, right: SqlRows | PublicTable, names: dict[str, str], join: Node, called: str
    ) -> list[Pair]:
        """The columns that must agree, as the data name them."""
        if join.args.get("using"):
            return [self._pair(left, right, names, one, one) for one in join.args["using"]]
        if not join.args.get("on"):
            return self._as_stated(left, join, called)
        pairs = []
        for one in _parts(join.args["on"]):
            if kind_of(one) != "EQ" or {kind_of(one.this), kind_of(one.expression)} != {"Column"}:
                self.sql.refused(one, "tables are joined where columns are equal", WAYS)
            sides = [one.this, one.expression]
            if sides[0].args.get("table") is not None and sides[0].args["table"].name.lower() == called:
                sides.reverse()
            pairs.append(self._pair(left, right, names, *sides))
        return pairs

    def _as_stated(self, left: SqlRows, join: Node, called: str) -> list[Pair]:
        """The columns that the schema file says, where the text says none; a comma joins nothing."""
        name = called if called in self.stated else join.this.name.lower()
        pairs = self.stated.get(name, ())
        known = {*left.data.schema.columns, left.data.unit.column}
        if not pairs or "pivots" not in join.args:  # which the parser leaves out where a comma stands for JOIN
            self.sql.refused(join.this, "nothing says which rows belong together", WAYS)
        if gone := [own for own, _ in pairs if own not in known]:
            self.sql.refused(join.this, f"it belongs together by {gone[0]}, which is not there", WAYS)
        return list(pairs)

    def _pair(self, left: SqlRows, right: SqlRows | PublicTable, names: dict[str, str], one: Node, other: Node) -> Pair:
        unit = left.data.unit.column
        same = unit is not None and one.name.lower() == other.name.lower() == unit.lower()
        if same and unit is not None and not isinstance(right, PublicTable):
            return unit, unit
        found = [own for shown, own in names.items() if shown.lower() == other.name.lower()]
        if len(found) != 1:
            self.sql.refused(other, f"the table has no column {other.name!r:.60}", instead_of(other.name, names))
        if kind_of(one) != "Column":  # of USING
            shared = [own for shown, own in left.names.items() if shown.lower() == one.name.lower()]
            if len(shared) != 1:
                self.sql.refused(one, f"there is no column {one.name!r:.60} on both sides", WAYS)
            return shared[0], found[0]
        return left.reader.column(one), found[0]


def on_keys(left: SqlRows, on: list[Pair]) -> bool:
    """Whether more must agree than the units."""
    return any(pair != (left.data.unit.column, left.data.unit.column) for pair in on)


def _called(node: Node) -> str:
    return str(node.alias or node.name).lower()


def _parts(node: Node) -> list[Node]:
    """The comparisons that must all hold."""
    if kind_of(node) == "Paren":
        return _parts(node.this)
    return [*_parts(node.this), *_parts(node.expression)] if kind_of(node) == "And" else [node]
