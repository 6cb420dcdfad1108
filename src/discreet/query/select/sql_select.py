"""The outer SELECT of a statement: its groups, its statistics, and which of the released rows are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.held import unheld
from discreet.query.select.sql_aggregates import SqlAggregates
from discreet.query.select.sql_rows import SqlRows, labelled
from discreet.query.select.sql_text import ASKED, REFUSED, SIGNS, STATISTICS, SqlText, kind_of, number_of
from discreet.questions.tables.cells import Edges
from discreet.schema.relation.asked_rows import GroupedRows, Having, Ordered, RowStatistic, ShownGroups, StatisticRows
from discreet.schema.schema import Number, Text

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


WAYS = (
    "There are count, sum, avg, variance, var_pop, stddev, stddev_pop, min, max, median, quantile, percentile_cont, "
    "covar_pop, covar_samp, corr."
)
INSTEAD = {
    "window": "Ask for a statistic of all rows, or of groups with GROUP BY.",
    "filter": "Write such as sum(CASE WHEN ... THEN 1 ELSE 0 END), or a SELECT with WHERE.",
    "mean": "Write avg(...).",
    "total": "Write sum(...).",
    "approxdistinct": "Write count(DISTINCT ...).",
    "histogram": "Write SELECT age, count(*) ... GROUP BY age, with edges=.",
    "approxtopk": "Write SELECT ward, count(*) AS n ... GROUP BY ward ORDER BY n DESC LIMIT 3.",
    "mode": "Write SELECT ward, count(*) AS n ... GROUP BY ward ORDER BY n DESC LIMIT 1.",
}


@unheld("one call")
@dataclass
class SqlSelect:
    """Reads it.

    Parameters
    ----------
    sql : SqlText
        The statement.
    node : Node
        The SELECT.
    rows : SqlRows
        The records that FROM and WHERE leave.
    most : int, optional
        Public. The most groups of a unit, where units are counted once in each.
    """

    sql: SqlText
    node: Node
    rows: SqlRows
    most: int | None = None
    groups: dict[str, str] = field(default_factory=dict)
    grouped: list[Node] = field(default_factory=list)
    aggregates: list[tuple[Node, RowStatistic]] = field(default_factory=list)

    @property
    def _reader(self) -> SqlAggregates:
        return SqlAggregates(self.sql, self.rows)

    def read(self, budget: Budget, edges: Edges | None) -> ShownGroups:
        """What is asked of the records, and shown of what is released."""
        for one in self._expressions("group"):
            self._group(one)
        for item in self.node.expressions:
            self._item(*labelled(item))
        by, asked = tuple(dict.fromkeys(self.groups.values())), tuple(one for _, one in self.aggregates)
        self._count_units(by)
        for name in self.rows.bounds:
            remedy = "Give bounds of what is computed in FROM, as (SELECT ..., age / stay AS rate FROM ...)."
            raise ParameterError(ASKED, f"there are bounds for {name!r:.60}, which is not computed", remedy)
        self._check_groups(budget, edges)
        asks = StatisticRows(GroupedRows(self.rows.data.relation, by, edges), asked)
        having = self._having(self.node.args["having"].this) if self.node.args.get("having") else ()
        return ShownGroups(asks, tuple(having), self._order(), self._limit())

    def _check_groups(self, budget: Budget, edges: Edges | None) -> None:
        """Refuse a column that makes no groups as things are, where it stands."""
        for node, name in zip(self.grouped, self.groups.values(), strict=False):
            kind = self.rows.data.schema.columns.get(name)
            if isinstance(kind, Text) and budget.delta == 0:
                obstacle = f"naming values of {name} that only the data know needs a positive delta"
                self.sql.refused(node, obstacle, "Give delta, or list the values in the schema.")
            own = edges is not None and (not isinstance(edges, Mapping) or name in edges)
            if isinstance(kind, Number) and kind.step is None and not own:
                remedy = f"Give edges={{{name!r}: [{kind.lower:g}, ..., {kind.upper:g}]}}, or the schema a step."
                self.sql.refused(node, f"{name} is a number, which makes no groups by itself", remedy)

    def _count_units(self, by: tuple[str, ...]) -> None:
        """Count units, and not rows, where that is what is asked: they are brought together first."""
        counted = [node for node, _ in self.aggregates if self._reader.counts_units(node)]
        if not counted:
            return
        if len(counted) < len(self.aggregates):
            remedy = "Ask in a SELECT of its own, or of a query that is grouped by units."
            self.sql.refused(counted[0], "units are counted once each, and other statistics are of rows", remedy)
        schema = self.rows.data.schema
        if numbers := [name for name in by if isinstance(schema.columns[name], Number)]:
            remedy = "Group by listed values, or ask for count(*)."
            self.sql.refused(counted[0], f"units are not counted in cells of {numbers[0]}", remedy)
        if by:
            self.rows.data = self.rows.data.per_unit(by=by, groups=self.most)
        else:
            self.rows.data = self.rows.data.per_unit(bounds={"rows": (0, 1)}, rows="count")

    def _expressions(self, clause: str) -> list[Node]:
        """What a clause lists, if it is there; a clause that says more is refused."""
        node = self.node.args.get(clause)
        if node is None:
            return []
        if any(found for name, found in node.args.items() if name != "expressions"):
            self.sql.refused(node, "it says more than which columns", "Name the columns, and no more.")
        return list(node.expressions)

    def _group(self, node: Node) -> None:
        """A column that makes groups, by its name, by its place in the SELECT, or computed."""
        items = {label: inner for label, inner in map(labelled, self.node.expressions) if label}
        label = node.name
        if kind_of(node) == "Literal" and not node.is_string:
            place = number_of(self.sql, node)
            if place not in range(1, len(self.node.expressions) + 1):
                self.sql.refused(node, "no column of the SELECT has this place", "Name the column.")
            label, node = labelled(self.node.expressions[int(place) - 1])
        elif kind_of(node) == "Column" and label in items and label not in self.rows.names:
            node = items[label]
        if kind_of(node) in STATISTICS:
            self.sql.refused(node, "a statistic makes no groups", "Group by columns.")
        found = self.rows.column(node, label or None)
        if kind_of(node) != "Column":
            self.rows.names.setdefault(label, found)
        self.groups[label] = found
        self.grouped.append(node)

    def _item(self, label: str, node: Node) -> None:
        if kind_of(node) in STATISTICS:
            self.aggregates.append((node, self._reader.read(label, node)))
        elif kind_of(node) == "Star":
            self.sql.refused(node, "SELECT * would show records", "Ask for statistics, such as count(*).")
        elif kind_of(node) != "Column" and node not in self.grouped:
            self.sql.refused(node, *_why_not(node))
        elif kind_of(node) == "Column":
            found = self.rows.reader.column(node)
            if found not in self.groups.values():
                remedy = f"Add GROUP BY {node.name}, or ask for a statistic of it."
                self.sql.refused(node, f"{node.name} is neither grouped by nor inside a statistic", remedy)
            self.groups[label] = found

    def _released(self, node: Node) -> str:
        """The released column that is meant: by its name, where capitals may differ, or by what it is."""
        for statistic, one in self.aggregates:
            if node == statistic or (kind_of(node) == "Column" and node.name.lower() == one.label.lower()):
                return one.label
        return self.sql.refused(node, "it is not among what is selected", "Select it, too.")

    def _having(self, node: Node) -> list[Having]:
        if kind_of(node) == "Paren":
            return self._having(node.this)
        if kind_of(node) == "And":
            return [*self._having(node.this), *self._having(node.expression)]
        if kind_of(node) not in SIGNS or kind_of(node.expression) not in ("Literal", "Neg"):
            self.sql.refused(node, "HAVING compares a statistic with a number", "Write such as HAVING n >= 100.")
        return [Having(self._released(node.this), SIGNS[kind_of(node)], number_of(self.sql, node.expression))]

    def _order(self) -> tuple[Ordered, ...]:
        return tuple(self._ordered(one.this, bool(one.args.get("desc"))) for one in self._expressions("order"))

    def _ordered(self, node: Node, descends: bool) -> Ordered:
        known = {label.lower(): column for label, column in self.groups.items()}
        column = known.get(node.name.lower()) if kind_of(node) == "Column" else None
        if column is None:
            return Ordered(self._released(node), descends)
        return Ordered(column, descends, isinstance(self.rows.data.schema.columns[column], Number))

    def _limit(self) -> int | None:
        limit = self.node.args.get("limit")
        if limit is None:
            return None
        if kind_of(limit) != "Limit" or any(one for name, one in limit.args.items() if name != "expression"):
            self.sql.refused(limit, "it is no plain LIMIT", "Write such as LIMIT 10.")
        found = number_of(self.sql, limit.expression)
        if found != round(found) or found < 0:
            self.sql.refused(self.node.args["limit"], "LIMIT is no whole number", "Write such as LIMIT 10.")
        return int(found)


def _why_not(node: Node) -> tuple[str, str]:
    """Why a part of the SELECT is refused, and what would be asked instead of it."""
    if kind_of(node) not in REFUSED and any(kind_of(one) in STATISTICS for one in node.walk()):
        return "it computes with statistics", "Select each of them, and compute with what is released."
    reason = REFUSED.get(kind_of(node), "it is neither grouped by nor a statistic that is known here")
    called = node.this if kind_of(node) == "Anonymous" else getattr(node, "key", "")
    return reason, INSTEAD.get(str(called).lower(), WAYS)
