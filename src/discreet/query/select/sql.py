"""Private statistics in SQL: parsed, checked against what is allowed, planned together, and paid for once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.query.select.selection import Aggregate, Selection
from discreet.query.select.shown_rows import Having, Ordered, ShownRows
from discreet.query.select.sql_rows import Bounds, FromReader, SqlRows, labelled
from discreet.query.select.sql_text import (
    ASKED,
    OF_A_POPULATION,
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
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


@dataclass(frozen=True)
class SqlStatement:
    """A statement that may be asked: what it selects, and what is done with the rows once they are released.

    Parameters
    ----------
    selection : Selection
        Public. What is paid for.
    rows : ShownRows
        Public. Which of the released rows are shown, and in which order: post-processing.
    purpose : str
        Public. What is written in the ledger.
    """

    selection: Selection
    rows: ShownRows
    purpose: str

    def asked(self, key: str | None = None) -> Table:
        """Pay, release, and show."""
        return self.rows.of(self.selection.released(self.purpose, key))


def sql(
    data: PrivateData | Mapping[str, PrivateData],
    text: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    edges: Edges | None = None,
    bounds: Bounds | None = None,
    confidence: float = CONFIDENCE,
    key: str | None = None,
) -> Table:
    """Release what a SELECT asks for, all of it at one price that is paid first.

    Parameters
    ----------
    data : PrivateData, or mapping of str to PrivateData
        The records; or several data sets by the names of their tables.
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
    >>> visits = {"stay": [2.0, 4.0] * 500, "ward": ["day"] * 500 + ["icu"] * 500}
    >>> data = PrivateData.of(visits, {"stay": (0, 60), "ward": ["day", "icu"]}, Budget(9.0))
    >>> table = sql(data, "SELECT ward, count(*) AS n, avg(stay * 24) AS hours FROM visits GROUP BY ward", epsilon=9)
    >>> table.labels["ward"], bool(abs(table["hours"].values[0] - 72) < 20)
    (('day', 'icu'), True)
    """
    statement = read_sql(data, text, epsilon=epsilon, delta=delta, edges=edges, bounds=bounds, confidence=confidence)
    return statement.asked(key)


def read_sql(
    data: PrivateData | Mapping[str, PrivateData],
    text: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    edges: Edges | None = None,
    bounds: Bounds | None = None,
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
    rows = FromReader(statement, data, dict(bounds or {})).rows(node)
    return _Select(statement, node, rows).read(budget, edges, confidence)


def is_sql(text: str) -> bool:
    """Whether a question is in SQL, and not in words.

    Examples
    --------
    >>> is_sql("SELECT count(*) FROM visits"), is_sql("with v as (select 1) select 2"), is_sql("mean of age")
    (True, True, False)
    """
    return text.lstrip().partition(" ")[0].lower() in ("select", "with")


@dataclass
class _Select:
    """Reads the outer SELECT: groups, statistics, and what is done with released rows."""

    sql: SqlText
    node: Node
    rows: SqlRows
    groups: dict[str, str] = field(default_factory=dict)
    aggregates: dict[Node, Aggregate] = field(default_factory=dict)

    def read(self, budget: Budget, edges: Edges | None, confidence: float) -> SqlStatement:
        for one in self.node.args["group"].expressions if self.node.args.get("group") else ():
            self._group(one)
        for item in self.node.expressions:
            self._item(*labelled(item))
        by, asked = tuple(self.groups.values()), tuple(self.aggregates.values())
        selection = Selection(self.rows.data, asked, budget, by, edges, confidence)
        having = self._having(self.node.args["having"].this) if self.node.args.get("having") else ()
        shown = ShownRows(tuple(having), self._order(), self._limit())
        return SqlStatement(selection, shown, " ".join(self.node.sql(dialect="duckdb").split()))

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
        self.rows.names.setdefault(label, found)
        self.groups[label] = found

    def _item(self, label: str, node: Node) -> None:
        if kind_of(node) in STATISTICS:
            self.aggregates[node] = self._aggregate(label, node)
        elif kind_of(node) == "Star":
            self.sql.refused(node, "SELECT * would show records", "Ask for statistics, such as count(*).")
        elif kind_of(node) != "Column" and label not in self.groups:
            known = ", ".join(sorted(set(STATISTICS.values())))
            self.sql.refused(node, "it is neither grouped by nor a statistic that is known here", f"There are {known}.")
        elif label not in self.groups and self.rows.reader.column(node) not in self.groups.values():
            remedy = f"Add GROUP BY {node.name}, or ask for a statistic of it."
            self.sql.refused(node, f"{node.name} is neither grouped by nor inside a statistic", remedy)

    def _aggregate(self, label: str, node: Node) -> Aggregate:
        statistic, of, options = STATISTICS[kind_of(node)], node.this, {}
        if kind_of(node) == "WithinGroup":
            of, level = node.expression.expressions[0].this, node.this.this
            options["q"] = number_of(self.sql, level)
        elif statistic == "quantile":
            options["q"] = number_of(self.sql, node.args["quantile"])
        elif kind_of(node) in OF_A_POPULATION:
            options["population"] = True
        if kind_of(of) == "Distinct":
            self.sql.refused(node, "values are not counted once each here", "Ask for count(*).")
        columns = [] if kind_of(of) == "Star" else [self.rows.column(of)]
        written = "" if not columns else f" of {of.sql(dialect='duckdb')}"
        own = f"{options['q']:g} " if "q" in options else ""
        asked = statistic_asked(ASKED, getattr(discreet, statistic), columns, options)
        return Aggregate(label or f"{own}{statistic}{written}".replace("_", " "), asked)

    def _released(self, node: Node) -> str:
        """The released column that is meant: by its name, or by what it is."""
        for statistic, one in self.aggregates.items():
            if node == statistic or (kind_of(node) == "Column" and node.name == one.label):
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
        found = []
        for one in self.node.args["order"].expressions if self.node.args.get("order") else ():
            label = self.groups.get(one.this.name) if kind_of(one.this) == "Column" else None
            found.append(Ordered(label or self._released(one.this), bool(one.args.get("desc"))))
        return tuple(found)

    def _limit(self) -> int | None:
        if not self.node.args.get("limit"):
            return None
        found = number_of(self.sql, self.node.args["limit"].expression)
        if found != round(found) or found < 0:
            self.sql.refused(self.node.args["limit"], "LIMIT is no whole number", "Write such as LIMIT 10.")
        return int(found)
