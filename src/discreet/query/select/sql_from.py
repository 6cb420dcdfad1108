"""The records that a statement in SQL is about: what FROM, JOIN and WHERE, and queries inside them, make of tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.core.checks import instead_of
from discreet.core.held import unheld
from discreet.query.select.sql_joins import SqlJoins
from discreet.query.select.sql_per_unit import SqlPerUnit
from discreet.query.select.sql_rows import OwnBounds, SqlRows, labelled
from discreet.query.select.sql_text import SqlText, kind_of
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_")
OUTSIDE = ("having", "order", "limit")
Tables = PrivateData | Mapping[str, PrivateData | PublicTable]


@unheld("one call")
@dataclass
class FromReader:
    """Finds the records that a SELECT is about.

    Parameters
    ----------
    sql : SqlText
        The statement.
    data : PrivateData, or mapping of str to PrivateData or PublicTable
        The only table, whatever it is called; or all tables by their names.
    bounds : dict of str to (float, float)
        Public. Of computed columns; those that are used are taken out.
    most : int, optional
        Public. The most rows that a row meets, in joins of protected tables.
    groups : int, optional
        Public. The most groups of a unit, where rows are brought together by units and groups.
    """

    sql: SqlText
    data: Tables
    bounds: OwnBounds
    most: int | None = None
    groups: int | None = None
    _queries: dict[str, Node] = field(default_factory=dict)

    def rows(self, node: Node) -> SqlRows:
        """The records of FROM that WHERE leaves."""
        self._check_clauses(node)
        if node.args.get("with_"):
            self._remember(node.args["with_"])
        if not node.args.get("from_"):
            self.sql.refused(node, "there is no FROM", "Name the table.")
        found = SqlJoins(self.sql, self.most, self._table, self._relations).read(
            node.args["from_"].this, node.args.get("joins") or []
        )
        if node.args.get("where"):
            found.filtered(node.args["where"].this)
        return found

    @property
    def _relations(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """By what tables belong together, where that is stated with them."""
        stated = getattr(self.data, "relations", {})
        return {name.lower(): pairs for name, pairs in stated.items()}

    def _check_clauses(self, node: Node) -> None:
        for name, found in node.args.items():
            if found and name not in CLAUSES:
                part = found[0] if isinstance(found, list) else found
                obstacle = f"{name.strip('_').upper()} is not allowed"
                self.sql.refused(part if hasattr(part, "walk") else node, obstacle, "Leave it out.")

    def _remember(self, node: Node) -> None:
        if node.args.get("recursive"):
            self.sql.refused(node, "a query that asks itself may go on for ever", "Leave out RECURSIVE.")
        for one in node.expressions:
            if kind_of(one.this) != "Select" or one.alias.lower() in self._queries:
                self.sql.refused(one, "it is no SELECT, or has the name of another one", "Name each SELECT once.")
            self._check_alias(one)
            self._queries[one.alias.lower()] = one.this

    def _check_alias(self, node: Node) -> None:
        """Refuse new names for columns beside that of their table, which would be overlooked."""
        alias = node.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            self.sql.refused(node, "columns are renamed beside their table", "Write SELECT column AS name.")

    def _table(self, node: Node) -> SqlRows | PublicTable:
        plain = not any(found for name, found in node.args.items() if name not in ("this", "alias"))
        self._check_alias(node)
        if plain and kind_of(node) == "Subquery" and kind_of(node.this) == "Select":
            return self._inner(node.this)
        if not plain or kind_of(node) != "Table" or kind_of(node.this) != "Identifier":
            self.sql.refused(node, "it is no single table", "Name one table, or a query of single records in brackets.")
        name = node.name.lower()
        if name in self._queries:
            return self._inner(self._queries.pop(name))
        data = self._of_name(node)
        if isinstance(data, PublicTable):
            return data
        return SqlRows(self.sql, data, {one: one for one in data.schema.columns}, self.bounds)

    def _of_name(self, node: Node) -> PrivateData | PublicTable:
        """The table of this name; the only one, whatever it is called."""
        if not isinstance(self.data, Mapping):
            return self.data
        known = {shown.lower(): one for shown, one in self.data.items()}
        if node.name.lower() not in known:
            self.sql.refused(node, f"there is no table {node.name!r:.60}", instead_of(node.name, self.data))
        return known[node.name.lower()]

    def _inner(self, node: Node) -> SqlRows:
        """The records of a query that chooses and computes, record by record, or brings those of a unit together."""
        for clause in OUTSIDE:
            if node.args.get(clause):
                obstacle = "a query inside another may choose and compute, record by record or by unit, and no more"
                self.sql.refused(node.args[clause], obstacle, "Put this into the outer SELECT.")
        found = self.rows(node)
        if node.args.get("group"):
            return SqlPerUnit(self.sql, found, self.groups).read(node)
        names: dict[str, str] = {}
        for item in node.expressions:
            if kind_of(item) == "Star":
                if any(item.args.values()):
                    self.sql.refused(item, "* is changed", "Write a plain *, or name the columns.")
                own = found.names
            else:
                label, inner = labelled(item)
                if not label:
                    self.sql.refused(inner, "what is computed here has no name", "Write ... AS name.")
                own = {} if found.is_unit(inner) else {label: found.column(inner, label)}
            for name in own.keys() & names.keys():
                self.sql.refused(item, f"two columns are called {name!r:.60}", "Write ... AS another name.")
            names |= own
        found.names, found.tables = names, {}
        return found
