"""The records that a statement in SQL is about: what FROM and WHERE, and queries inside them, choose and compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.core.held import unheld
from discreet.query.select.sql_text import RowReader, SqlText, kind_of
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

CLAUSES = ("expressions", "from_", "where", "group", "having", "order", "limit", "with_")
OUTSIDE = ("group", "having", "order", "limit")
Bounds = Mapping[str, tuple[float, float]]
OwnBounds = dict[str, tuple[float, float]]


@unheld("one call")
@dataclass
class SqlRows:
    """Records of a data set, chosen and computed with, and what their columns are called in a statement.

    Parameters
    ----------
    sql : SqlText
        The statement.
    data : PrivateData
        The records.
    names : dict of str to str
        Public. The columns of the data, by their names in the statement.
    bounds : dict of str to (float, float)
        Public. Of computed columns, by their names in the statement; those that are used are taken out.
    """

    sql: SqlText
    data: PrivateData
    names: dict[str, str]
    bounds: OwnBounds

    @property
    def reader(self) -> RowReader:
        """Reads numbers and conditions of these records."""
        return RowReader(self.sql, self.names, self.derived)

    def column(self, node: Node, label: str | None = None) -> str:
        """The column that a part of the statement is: one that is there, or one that is computed for it."""
        if kind_of(node) == "Column":
            return self.reader.column(node)
        return self.derived(self.reader.number(node), label)

    def derived(self, number: str, label: str | None = None) -> str:
        """A column of a number that is computed, under its own name or one that nobody uses."""
        taken = (*self.data.schema.columns, "bounds")
        name = label
        if name is None or name in taken:
            name = next(free for place in range(1, len(taken) + 2) if (free := f"computed_{place}") not in taken)
        bounds = {name: self.bounds.pop(label)} if label is not None and label in self.bounds else None
        self.data = self.data.derive(bounds=bounds, **{name: number})
        return name

    def filtered(self, node: Node) -> None:
        """Leave the records that fulfil a condition alone."""
        condition = self.reader.condition(node)
        self.data = self.data.where(condition)


@unheld("one call")
@dataclass
class FromReader:
    """Finds the records that a SELECT is about.

    Parameters
    ----------
    sql : SqlText
        The statement.
    data : PrivateData, or mapping of str to PrivateData
        The only table, whatever it is called; or all tables by their names.
    bounds : dict of str to (float, float)
        Public. Of computed columns; those that are used are taken out.
    """

    sql: SqlText
    data: PrivateData | Mapping[str, PrivateData]
    bounds: OwnBounds
    _queries: dict[str, Node] = field(default_factory=dict)

    def rows(self, node: Node) -> SqlRows:
        """The records of FROM that WHERE leaves."""
        self._check_clauses(node)
        if node.args.get("with_"):
            self._remember(node.args["with_"])
        if not node.args.get("from_"):
            self.sql.refused(node, "there is no FROM", "Name the table.")
        found = self._table(node.args["from_"].this)
        if node.args.get("where"):
            found.filtered(node.args["where"].this)
        return found

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

    def _table(self, node: Node) -> SqlRows:
        plain = not any(found for name, found in node.args.items() if name not in ("this", "alias"))
        self._check_alias(node)
        if plain and kind_of(node) == "Subquery" and kind_of(node.this) == "Select":
            return self._inner(node.this)
        if not plain or kind_of(node) != "Table" or kind_of(node.this) != "Identifier":
            self.sql.refused(node, "it is no single table", "Name one table, or a query of single records in brackets.")
        name = node.name.lower()
        if name in self._queries:
            return self._inner(self._queries.pop(name))
        data = self.data
        if isinstance(data, Mapping):
            known = {shown.lower(): one for shown, one in data.items()}
            if name not in known:
                self.sql.refused(node, f"there is no table {node.name!r:.60}", f"There are {', '.join(data)}.")
            data = known[name]
        return SqlRows(self.sql, data, {one: one for one in data.schema.columns}, self.bounds)

    def _inner(self, node: Node) -> SqlRows:
        """The records of a query that chooses and computes, record by record."""
        for clause in OUTSIDE:
            if node.args.get(clause):
                obstacle = "a query inside another may choose and compute, record by record, and no more"
                self.sql.refused(node.args[clause], obstacle, "Put this into the outer SELECT.")
        found = self.rows(node)
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
                own = {label: found.column(inner, label)}
            for name in own.keys() & names.keys():
                self.sql.refused(item, f"two columns are called {name!r:.60}", "Write ... AS another name.")
            names |= own
        found.names = names
        return found


def labelled(item: Node) -> tuple[str, Node]:
    """An item of a SELECT, and its name: that which it is given, or that of a column."""
    if kind_of(item) == "Alias":
        return item.alias, item.this
    return (item.name if kind_of(item) == "Column" else ""), item
