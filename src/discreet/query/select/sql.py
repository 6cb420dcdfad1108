"""Private statistics in SQL: parsed, checked against what is allowed, planned together, and paid for once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.query.select.selection import Aggregate, Selection
from discreet.query.select.shown_rows import Having, Ordered, ShownRows
from discreet.query.select.sql_text import (
    ASKED,
    OF_A_POPULATION,
    SIGNS,
    STATISTICS,
    RowReader,
    SqlText,
    privacy_options,
)
from discreet.query.words import statistic_asked
from discreet.questions.tables.cells import Edges
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from sqlglot.expressions import Expression as Node

CLAUSES = {
    "expressions",
    "from_",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "with_",
    "kind",
    "hint",
    "operation_modifiers",
}


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
    bounds: Mapping[str, tuple[float, float]] | None = None,
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
    return read_sql(data, text, epsilon=epsilon, delta=delta, edges=edges, bounds=bounds, confidence=confidence).asked(
        key
    )


def read_sql(
    data: PrivateData | Mapping[str, PrivateData],
    text: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    edges: Edges | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    confidence: float = CONFIDENCE,
) -> SqlStatement:
    """The same without asking it: refused here, if it may not be asked."""
    plain, said = privacy_options(text) if isinstance(text, str) else (text, {})
    given = {"epsilon": epsilon, "delta": delta}
    for name in said:
        if given[name] is not None and given[name] != said[name]:
            raise ParameterError(ASKED, f"{name} is {given[name]} and the text says {said[name]}", "Give it once.")
    price = {"epsilon": 1.0, "delta": 0.0} | {n: v for n, v in given.items() if v is not None} | said
    statement = SqlText(plain)
    return _Reader(statement, data, dict(bounds or {})).statement(Budget(**price), edges, confidence)


@dataclass
class _Rows:
    """Records that a part of a statement is about: those of a data set, chosen and computed with."""

    data: PrivateData
    names: dict[str, str]


class _Reader:
    """Reads a statement from the inside out."""

    def __init__(
        self, text: SqlText, data: PrivateData | Mapping[str, PrivateData], bounds: dict[str, tuple[float, float]]
    ) -> None:
        self._text, self._data, self._bounds = text, data, bounds
        self._tables: dict[str, Node] = {}

    def statement(self, budget: Budget, edges: Edges | None, confidence: float) -> SqlStatement:
        node = self._text.parsed()
        rows = self._chosen(node)
        labels: dict[str, Node] = {}
        groups = self._groups(node, rows, labels)
        aggregates, shown = [], []
        for item in node.expressions:
            label, inner = (item.alias, item.this) if type(item).__name__ == "Alias" else ("", item)
            if type(inner).__name__ == "Column":
                shown.append(self._grouped(inner, rows, groups, label))
                continue
            one = self._aggregate(inner, rows, label)
            aggregates.append(one)
            labels[inner.sql()] = inner
            shown.append(one.label)
        selection = Selection(
            rows.data, tuple(aggregates), budget, tuple(groups), edges if groups else None, confidence
        )
        having = tuple(self._having(node.args["having"].this, aggregates)) if node.args.get("having") else ()
        purpose = " ".join(node.sql(dialect="duckdb").split())
        return SqlStatement(
            selection, ShownRows(having, self._order(node, aggregates, groups), _limit(self._text, node)), purpose
        )

    def _chosen(self, node: Node) -> _Rows:
        """The records of FROM that WHERE leaves."""
        for name, found in node.args.items():
            if found and name not in CLAUSES:
                part = found[0] if isinstance(found, list) else found
                self._text.refused(
                    part if hasattr(part, "sql") else node,
                    f"{name.rstrip('_').upper()} is not allowed",
                    "Leave it out.",
                )
        for one in node.args["with_"].expressions if node.args.get("with_") else ():
            if node.args["with_"].args.get("recursive"):
                self._text.refused(one, "a query that asks itself may ask for ever", "Leave out RECURSIVE.")
            self._tables[one.alias.lower()] = one.this
        if not node.args.get("from_"):
            self._text.refused(node, "there is no FROM", "Name the table.")
        rows = self._from(node.args["from_"].this)
        if node.args.get("where"):
            reader = self._reader(rows)
            condition = reader.condition(node.args["where"].this)
            rows.data = rows.data.where(condition)
        return rows

    def _from(self, node: Node) -> _Rows:
        kind = type(node).__name__
        if kind == "Subquery" and type(node.this).__name__ == "Select":
            return self._inner(node.this)
        if kind != "Table":
            self._text.refused(
                node, "this is no table", "Name a table, or write a query of single records in brackets."
            )
        name = node.name.lower()
        if name in self._tables:
            return self._inner(self._tables[name])
        data = self._data
        if isinstance(data, Mapping):
            known = {one.lower(): found for one, found in data.items()}
            if name not in known:
                self._text.refused(node, f"there is no table {node.name!r:.60}", f"There are {', '.join(data)}.")
            data = known[name]
        return _Rows(data, {one: one for one in data.schema.columns})

    def _inner(self, node: Node) -> _Rows:
        """A query that chooses and computes record by record."""
        for clause in ("group", "having", "order", "limit"):
            if node.args.get(clause):
                self._text.refused(
                    node.args[clause],
                    "a query in FROM may only choose and compute, record by record",
                    "Put it outside.",
                )
        rows = self._chosen(node)
        names: dict[str, str] = {}
        for item in node.expressions:
            if type(item).__name__ == "Star":
                names |= rows.names
                continue
            label, inner = (item.alias, item.this) if type(item).__name__ == "Alias" else (item.alias_or_name, item)
            reader = self._reader(rows)
            if type(inner).__name__ == "Column":
                names[label] = reader.column(inner)
            else:
                if not label:
                    self._text.refused(inner, "what is computed here has no name", "Write ... AS name.")
                names[label] = self._derive(rows, reader.number(inner), label)
        return _Rows(rows.data, names)

    def _reader(self, rows: _Rows) -> RowReader:
        return RowReader(self._text, rows.names, lambda number: self._derive(rows, number))

    def _derive(self, rows: _Rows, number: str, label: str | None = None) -> str:
        """A column of a number that is computed, under its own name or one that nobody uses."""
        taken = rows.data.schema.columns
        for name, one in rows.data.derived.items():
            if label is None and str(one.expression) == number:
                return name
        if label is None or label in taken:
            label = next(name for place in range(1, 2**12) if (name := f"_{place}") not in taken)
        bounds = {label: self._bounds[label]} if label in self._bounds else None
        rows.data = rows.data.derive(bounds=bounds, **{label: number})
        return label

    def _groups(self, node: Node, rows: _Rows, labels: Mapping[str, Node]) -> list[str]:
        found = []
        items = {one.alias: one.this for one in node.expressions if type(one).__name__ == "Alias"}
        for one in node.args["group"].expressions if node.args.get("group") else ():
            if type(one).__name__ == "Literal" and not one.is_string and str(one.this).isdigit():
                place = int(one.this) - 1
                if not 0 <= place < len(node.expressions):
                    self._text.refused(one, "no column has this place", "Name the column.")
                one = node.expressions[place]
                one = one.this if type(one).__name__ == "Alias" else one
            elif type(one).__name__ == "Column" and one.name in items and one.name not in rows.names:
                alias = one.name
                one = items[alias]
                if type(one).__name__ != "Column":
                    found.append(self._derive(rows, self._reader(rows).number(one), alias))
                    rows.names[alias] = found[-1]
                    continue
            reader = self._reader(rows)
            found.append(
                reader.column(one) if type(one).__name__ == "Column" else self._derive(rows, reader.number(one))
            )
        return found

    def _grouped(self, node: Node, rows: _Rows, groups: list[str], label: str) -> str:
        name = self._reader(rows).column(node)
        if name not in groups:
            remedy = f"Add GROUP BY {name}, or ask for a statistic of it."
            self._text.refused(node, f"{name} is neither grouped by nor inside a statistic", remedy)
        return name

    def _aggregate(self, node: Node, rows: _Rows, label: str) -> Aggregate:
        kind = type(node).__name__
        if kind == "Star":
            self._text.refused(node, "SELECT * would show records", "Ask for statistics, such as count(*).")
        if kind not in STATISTICS:
            self._text.refused(
                node,
                "this is no statistic that is known here",
                f"There are {', '.join(sorted(set(STATISTICS.values())))}.",
            )
        statistic, of, options = STATISTICS[kind], node.this, {}
        if kind in ("Quantile", "ApproxQuantile"):
            options["q"] = _level(self._text, node.args["quantile"])
        if kind == "WithinGroup":
            options["q"] = _level(self._text, node.this.this)
            of = node.expression.expressions[0].this
        if type(of).__name__ == "Distinct":
            self._text.refused(
                node, "values cannot be counted once each", "Ask for count(*), where each unit has one row."
            )
        if kind == "Count" and type(of).__name__ == "Star":
            columns: list[str] = []
        else:
            reader = self._reader(rows)
            columns = [reader.column(of) if type(of).__name__ == "Column" else self._derive(rows, reader.number(of))]
        if kind in OF_A_POPULATION:
            options["population"] = True
        shown = (
            label
            or f"{statistic}{'' if not columns else f'_{of.sql()}' if type(of).__name__ != 'Column' else f'_{columns[0]}'}"
        )
        return Aggregate(shown, statistic_asked(ASKED, getattr(discreet, statistic), columns, options))

    def _having(self, node: Node, aggregates: list[Aggregate]) -> list[Having]:
        kind = type(node).__name__
        if kind == "Paren":
            return self._having(node.this, aggregates)
        if kind == "And":
            return [*self._having(node.this, aggregates), *self._having(node.expression, aggregates)]
        if kind not in SIGNS or type(node.expression).__name__ != "Literal" or node.expression.is_string:
            self._text.refused(
                node, "HAVING compares released statistics with numbers", "Write such as HAVING n >= 100."
            )
        return [Having(self._label(node.this, aggregates), SIGNS[kind], float(node.expression.this))]

    def _label(self, node: Node, aggregates: list[Aggregate]) -> str:
        """The released column that is meant: by its name, or by what it is."""
        names = {one.label for one in aggregates}
        if type(node).__name__ == "Column" and node.name in names:
            return str(node.name)
        for item in self._text.parsed().expressions:
            inner = item.this if type(item).__name__ == "Alias" else item
            if inner == node:
                place = [
                    one
                    for one in self._text.parsed().expressions
                    if type(one.this if type(one).__name__ == "Alias" else one).__name__ != "Column"
                ].index(item)
                return aggregates[place].label
        self._text.refused(node, "it is not among what is selected", "Select it too.")

    def _order(self, node: Node, aggregates: list[Aggregate], groups: list[str]) -> tuple[Ordered, ...]:
        found = []
        for one in node.args["order"].expressions if node.args.get("order") else ():
            own = one.this
            name = own.name if type(own).__name__ == "Column" and own.name in groups else self._label(own, aggregates)
            found.append(Ordered(name, bool(one.args.get("desc"))))
        return tuple(found)


def _level(text: SqlText, node: Node) -> float:
    if type(node).__name__ != "Literal" or node.is_string:
        text.refused(node, "the level of a quantile is no number", "Write such as quantile(stay, 0.9).")
    return float(node.this)


def _limit(text: SqlText, node: Node) -> int | None:
    if not node.args.get("limit"):
        return None
    found = node.args["limit"].expression
    if type(found).__name__ != "Literal" or found.is_string or not str(found.this).isdigit():
        text.refused(found, "LIMIT is no whole number", "Write such as LIMIT 10.")
    return int(found.this)


__all__ = ["SqlStatement", "read_sql", "replace", "sql"]
