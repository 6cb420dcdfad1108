"""Statistics that a SELECT names, as a relation has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discreet
from discreet.core.held import unheld
from discreet.query.select.sql_rows import SqlRows
from discreet.query.select.sql_text import (
    ASKED,
    LESS_ONE,
    OF_A_POPULATION,
    OF_PAIRS,
    PERCENTILES,
    STATISTICS,
    SqlText,
    kind_of,
    number_of,
)
from discreet.query.words import statistic_asked
from discreet.schema.relation.asked_rows import RowStatistic

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


@unheld("one call")
@dataclass
class SqlAggregates:
    """Reads them.

    Parameters
    ----------
    sql : SqlText
        The statement.
    rows : SqlRows
        The records that they are of.
    """

    sql: SqlText
    rows: SqlRows

    def read(self, label: str, node: Node) -> RowStatistic:
        """One of them, by its label or one that says what it is."""
        self._check_given(node)
        statistic, of = STATISTICS[kind_of(node)], node.this
        options: dict[str, Any] = {}
        if kind_of(node) == "WithinGroup":
            of, options["q"] = self._ranked(node)
        elif statistic == "quantile":
            options["q"] = number_of(self.sql, node.args["quantile"])
        elif kind_of(node) in LESS_ONE:
            options["ddof"] = 1
        elif kind_of(node) in OF_A_POPULATION:
            options["population"] = True
        if not 0 <= options.get("q", 0.5) <= 1:
            self.sql.refused(node, f"its level is {options['q']!r}", "Give one from 0 to 1.")
        if self.rows.is_unit(of) and of.name.lower() not in map(str.lower, self.rows.names):
            remedy = f"Write count(DISTINCT {of.name}), or ask for other columns."
            self.sql.refused(node, f"{of.name} tells whose row it is, and is no column to ask about", remedy)
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
        if self.counts_units(node):
            return RowStatistic(label or f"count of {of.name}", "count")
        written = of.sql(dialect="duckdb")
        return RowStatistic(
            label or f"distinct values of {written}", "count_distinct", (("column", self.rows.column(of)),)
        )

    def counts_units(self, node: Node) -> bool:
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
