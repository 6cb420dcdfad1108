"""A query in FROM that is grouped by the column of units: a table with one row for each unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.condition import name_of
from discreet.core.held import unheld
from discreet.query.select.sql_rows import SqlRows, labelled
from discreet.query.select.sql_text import SqlText, kind_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

NUMBERS = {"Sum": "sum", "Avg": "mean", "Min": "min", "Max": "max"}
TRUTHS = {"LogicalOr": "any", "LogicalAnd": "all"}
WAYS = "Write count(*), count(x), sum, avg, min, max, bool_or, bool_and or any_value."


@unheld("one call")
@dataclass
class SqlPerUnit:
    """Reads such a query.

    Parameters
    ----------
    sql : SqlText
        The statement.
    rows : SqlRows
        The rows that are brought together.
    groups : int, optional
        Public. The most groups of a unit, where it has one row for each of them.
    """

    sql: SqlText
    rows: SqlRows
    groups: int | None = None

    def read(self, node: Node) -> SqlRows:
        """The rows with one for each unit, or for each unit and group."""
        by, labels = self._groups(node), dict[str, str]()
        texts: dict[str, Any] = {}
        for item in node.expressions:
            label, inner = labelled(item)
            if self.rows.is_unit(inner):
                continue
            own = self.rows.reader.column(inner) if kind_of(inner) == "Column" else None
            if own is not None and own not in by:
                remedy = f"Write any_value({inner.name}), which is missing where a unit has several."
                self.sql.refused(inner, f"{inner.name} may differ among the rows of a unit", remedy)
            if not label or label in labels:
                self.sql.refused(inner, "what is computed here has no name of its own", "Write ... AS name.")
            labels[label] = label if own is None else own
            if own is None:
                texts[label] = self._gathered(inner)
        bounds = {label: self.rows.bounds.pop(label) for label in texts if label in self.rows.bounds}
        most = self.groups if by else None
        data = self.sql.showing(
            node.args["group"], lambda: self.rows.data.per_unit(by=by, groups=most, bounds=bounds, **texts)
        )
        return SqlRows(self.sql, data, labels, self.rows.bounds)

    def _groups(self, node: Node) -> tuple[str, ...]:
        group = node.args["group"]
        named = list(group.expressions)
        if any(found for name, found in group.args.items() if name != "expressions"):
            self.sql.refused(group, "it says more than which columns", "Name the columns, and no more.")
        if not any(self.rows.is_unit(one) for one in named):
            unit = self.rows.data.unit.column
            way = "Put this into the outer SELECT" + ("." if unit is None else f", or group by {unit}, too.")
            self.sql.refused(group, "a query inside another may bring rows together by units alone", way)
        return tuple(self.rows.reader.column(one) for one in named if not self.rows.is_unit(one))

    def _gathered(self, node: Node) -> str:
        """What the rows of a unit come to, as `per_unit` reads it."""
        kind = kind_of(node)
        if kind == "IgnoreNulls":
            return self._gathered(node.this)
        given = [name for name, found in node.args.items() if found and name not in ("this", "big_int")]
        if given or kind not in ("Count", *NUMBERS, *TRUTHS, "AnyValue"):
            self.sql.refused(node, "the rows of a unit are not brought together in this way", WAYS)
        of, reader = node.this, self.rows.reader
        if kind == "Count" and kind_of(of) in ("Star", "Literal"):
            return "count"
        if kind in TRUTHS:
            return f"{TRUTHS[kind]} of {reader.condition(of)}"
        if kind == "AnyValue":
            return f"only of {name_of(self.rows.column(of))}"
        way = "count" if kind == "Count" else NUMBERS[kind]
        return f"{way} of {reader.number(of) if kind_of(of) != 'Column' else name_of(reader.column(of))}"
