"""Private statistics in SQL: parsed, checked against what is allowed, planned together, and paid for once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.query.select.selection import Selection
from discreet.query.select.shown_rows import ShownRows
from discreet.query.select.sql_from import FromReader, Tables
from discreet.query.select.sql_rows import Bounds, SqlRows, labelled
from discreet.query.select.sql_text import (
    ASKED,
    LESS_ONE,
    OF_A_POPULATION,
    OF_PAIRS,
    PERCENTILES,
    SIGNS,
    STATISTICS,
    SqlText,
    kind_of,
    number_of,
    privacy_options,
)
from discreet.query.words import statistic_asked
from discreet.questions.tables.cells import Edges
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import (
    GroupedRows,
    Having,
    Ordered,
    RowStatistic,
    ShownGroups,
    StatisticRows,
)
from discreet.schema.schema import Number, Text
from discreet.trust.telling import telling

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


@dataclass(frozen=True)
class SqlStatement:
    """A statement that may be asked: what it selects, and what is done with the rows once they are released.

    Parameters
    ----------
    selection : Selection
        Public. What is paid for.
    relation : ShownGroups
        Public. What is asked, and which of the released rows are shown in which order, which is post-processing.
    purpose : str
        Public. What is written in the ledger.
    """

    selection: Selection
    relation: ShownGroups
    purpose: str

    def asked(self, key: str | None = None) -> Table:
        """Pay, release, and show."""
        return ShownRows(self.relation).of(self.selection.released(self.purpose, key))


def sql(
    data: Tables,
    text: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    edges: Edges | None = None,
    bounds: Bounds | None = None,
    most: int | None = None,
    confidence: float = CONFIDENCE,
    key: str | None = None,
) -> Table:
    """Release what a SELECT asks for, all of it at one price that is paid first.

    Parameters
    ----------
    data : PrivateData, or mapping of str to PrivateData or PublicTable
        The records; or several data sets by the names of their tables, all of the same account, and public tables.
    text : str
        Public. One SELECT of statistics (count, sum, avg, variance, stddev, min, max, median, quantile) of columns or
        of numbers that are computed from single records, with WHERE, GROUP BY, HAVING, ORDER BY and LIMIT. The last
        three see released rows alone. `WITH` and queries in FROM may choose and compute, record by record.
    epsilon, delta : float, optional
        Public. What it may cost in all; 1 and 0 by default. Also in the text, as BigQuery writes it:
        `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6) ...`.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers in GROUP BY.
    bounds : mapping of str to (float, float), optional
        Public. Of numbers that are computed and have a name, where what follows from the schema is too wide.
    most : int, optional
        Public. The most rows that a row meets, where protected tables are joined; see `PrivateData.join`.
    confidence : float
        Public. Of each interval.
    key : str, optional
        Public. Makes a retry safe: the same question with the same key is not charged again.

    Returns
    -------
    Table
        A row for each group, a column for each statistic, with intervals and the receipt.

    Guarantee
    ---------
    The event on the receipt: that of all sums, and of naming groups that only the data know, which needs a delta.

    Examples
    --------
    >>> from discreet.trust.private_data import PrivateData
    >>> visits = {"stay": [2.0, 4.0] * 500, "ward": ["day"] * 500 + ["icu"] * 500}
    >>> data = PrivateData.of(visits, {"stay": (0, 60), "ward": ["day", "icu"]}, Budget(9.0))
    >>> table = sql(data, "SELECT ward, count(*) AS n, avg(stay * 24) AS hours FROM visits GROUP BY ward", epsilon=9)
    >>> table.labels["ward"], bool(abs(table["hours"].values[0] - 72) < 20)
    (('day', 'icu'), True)
    """
    statement = read_sql(
        data, text, epsilon=epsilon, delta=delta, edges=edges, bounds=bounds, most=most, confidence=confidence
    )
    if not getattr(data, "elsewhere", False):
        return statement.asked(key)
    said = {"sql": text, "edges": edges, "confidence": confidence, "bounds": bounds, "most": most}
    with telling(data, {name: one for name, one in said.items() if one is not None}, statement.selection.budget):
        return statement.asked(key)


def read_sql(
    data: Tables,
    text: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    edges: Edges | None = None,
    bounds: Bounds | None = None,
    most: int | None = None,
    confidence: float = CONFIDENCE,
) -> SqlStatement:
    """The same without asking it: refused here, if it may not be asked."""
    plain, said = privacy_options(text) if isinstance(text, str) else (text, {})
    given = {name: one for name, one in (("epsilon", epsilon), ("delta", delta)) if one is not None}
    for name in said.keys() & given.keys():
        if said[name] != given[name]:
            raise ParameterError(ASKED, f"{name} is {given[name]} and the text says {said[name]}", "Give it once.")
    budget = Budget(**{"epsilon": 1.0, "delta": 0.0, **given, **said})
    statement = SqlText(plain)
    node = statement.parsed()
    try:
        rows = FromReader(statement, data, dict(bounds or {}), most).rows(node)
        return _Select(statement, node, rows).read(budget, edges, confidence)
    except RecursionError:
        obstacle = "too many operations are inside one another"
        raise ParameterError(ASKED, obstacle, "Write IN for many values, or less in one statement.") from None


def is_sql(text: str) -> bool:
    """Whether a question is in SQL, and not in words.

    Examples
    --------
    >>> is_sql("SELECT count(*) FROM visits"), is_sql("with v as (select 1) select 2"), is_sql("mean of age")
    (True, True, False)
    """
    return [word.lower() for word in text.split(None, 1)[:1]] in (["select"], ["with"])


@dataclass
class _Select:
    """Reads the outer SELECT: groups, statistics, and what is done with released rows."""

    sql: SqlText
    node: Node
    rows: SqlRows
    groups: dict[str, str] = field(default_factory=dict)
    grouped: list[Node] = field(default_factory=list)
    aggregates: list[tuple[Node, RowStatistic]] = field(default_factory=list)

    def read(self, budget: Budget, edges: Edges | None, confidence: float) -> SqlStatement:
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
        selection = Selection.read(self.rows.data, asks, budget, confidence)
        having = self._having(self.node.args["having"].this) if self.node.args.get("having") else ()
        shown = ShownGroups(asks, tuple(having), self._order(), self._limit())
        return SqlStatement(selection, shown, " ".join(self.node.sql(dialect="duckdb").split()))

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
        counted = [node for node, _ in self.aggregates if self._counts_units(node)]
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
            self.rows.data = self.rows.data.per_unit(by=by)
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
            self.aggregates.append((node, self._aggregate(label, node)))
        elif kind_of(node) == "Star":
            self.sql.refused(node, "SELECT * would show records", "Ask for statistics, such as count(*).")
        elif kind_of(node) != "Column" and node not in self.grouped:
            known = ", ".join(sorted(set(STATISTICS.values())))
            self.sql.refused(node, "it is neither grouped by nor a statistic that is known here", f"There are {known}.")
        elif kind_of(node) == "Column":
            found = self.rows.reader.column(node)
            if found not in self.groups.values():
                remedy = f"Add GROUP BY {node.name}, or ask for a statistic of it."
                self.sql.refused(node, f"{node.name} is neither grouped by nor inside a statistic", remedy)
            self.groups[label] = found

    def _aggregate(self, label: str, node: Node) -> RowStatistic:
        self._check_given(node)
        statistic, of, options = STATISTICS[kind_of(node)], node.this, {}
        if kind_of(node) == "WithinGroup":
            of, options["q"] = self._ranked(node)
        elif statistic == "quantile":
            options["q"] = number_of(self.sql, node.args["quantile"])
        elif kind_of(node) in LESS_ONE:
            options["ddof"] = 1
        elif kind_of(node) in OF_A_POPULATION:
            options["population"] = True
        if kind_of(of) == "Distinct":
            if statistic != "count" or len(of.expressions) != 1:
                self.sql.refused(node, "only units, or the values of one column, are counted once each", "Name one.")
            return self._distinct(label, node, of.expressions[0])
        if kind_of(node) in OF_PAIRS:
            return self._pair(label, node, options)
        columns = [] if statistic == "count" and kind_of(of) in ("Star", "Literal") else [self.rows.column(of)]
        written = "" if not columns else f" of {of.sql(dialect='duckdb')}"
        own = f"{options['q']:g} " if "q" in options else ""
        asked = statistic_asked(ASKED, getattr(discreet, statistic), columns, options)
        name = label or f"{own}{statistic}{written}".replace("_", " ")
        return RowStatistic(name, statistic, tuple(asked.options.items()))

    def _pair(self, label: str, node: Node, options: dict[str, Any]) -> RowStatistic:
        """What two columns have to do with each other."""
        columns, statistic = [self.rows.column(one) for one in (node.this, node.expression)], STATISTICS[kind_of(node)]
        written = " and ".join(one.sql(dialect="duckdb") for one in (node.this, node.expression))
        asked = statistic_asked(ASKED, getattr(discreet, statistic), columns, options)
        return RowStatistic(label or f"{statistic} of {written}", statistic, tuple(asked.options.items()))

    def _distinct(self, label: str, node: Node, of: Node) -> RowStatistic:
        """Units, or values, that are counted once each."""
        if self._counts_units(node):
            return RowStatistic(label or f"count of {of.name}", "count")
        written = of.sql(dialect="duckdb")
        return RowStatistic(
            label or f"distinct values of {written}", "count_distinct", (("column", self.rows.column(of)),)
        )

    def _counts_units(self, node: Node) -> bool:
        """Whether a statistic counts units, once each."""
        return kind_of(node.this) == "Distinct" and self.rows.is_unit(node.this.expressions[0])

    def _check_given(self, node: Node) -> None:
        """Refuse a statistic that is given more, or less, than is read here."""
        more = {"Quantile": "quantile", "ApproxQuantile": "quantile", **dict.fromkeys(OF_PAIRS, "expression")}
        needed = ("this", *(more[one] for one in [kind_of(node)] if one in more))
        known = (*needed, "big_int", *(("expression",) if kind_of(node) == "WithinGroup" else ()))
        others = [name for name, found in node.args.items() if found and name not in known]
        star = kind_of(node.this) == "Star" and any(node.this.args.values())
        if others or star or not all(node.args.get(name) for name in needed):
            self.sql.refused(node, "it is given more than is known here, or less", "Write such as quantile(stay, 0.9).")

    def _ranked(self, node: Node) -> tuple[Node, float]:
        """What `percentile_cont(level) WITHIN GROUP (ORDER BY ...)` orders, upwards, and the level."""
        order = node.expression.expressions
        if kind_of(node.this) not in PERCENTILES or len(order) != 1 or order[0].args.get("desc"):
            remedy = "Write percentile_cont(0.9) WITHIN GROUP (ORDER BY stay)."
            self.sql.refused(node, "it is no percentile of one column that ascends", remedy)
        return order[0].this, number_of(self.sql, node.this.this)

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
