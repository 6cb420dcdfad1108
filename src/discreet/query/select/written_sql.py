"""A relation in SQL, as `discreet.sql` reads it: for whoever wants to see or keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from discreet.core.condition import Compared, ComparedColumns, Condition, Joined, Missing, Not
from discreet.core.errors import NotPermitted
from discreet.schema.expression import Applied, Arithmetic, Case, ColumnValue, Expression
from discreet.schema.relation.asked_rows import GroupedRows, RowStatistic, ShownGroups, StatisticRows
from discreet.schema.relation.joined_rows import JoinedRows
from discreet.schema.relation.limited_rows import LimitedRows
from discreet.schema.relation.listed_rows import ListedRows
from discreet.schema.relation.per_unit import PerUnit
from discreet.schema.relation.relation_node import RelationNode
from discreet.schema.relation.row_wise import ComputedRows, FilteredRows
from discreet.schema.relation.stored_rows import PublicRows, StoredRows
from discreet.schema.relation.unit_column import UnitColumn

OPPOSITE = {"==": "!=", "!=": "==", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
SIGNS = {"==": "=", "!=": "<>"}
STATISTICS = {
    "count": "count",
    "total": "sum",
    "mean": "avg",
    "variance": "var_pop",
    "standard_deviation": "stddev_pop",
    "minimum": "min",
    "maximum": "max",
    "median": "median",
    "covariance": "covar_pop",
    "correlation": "corr",
}
SAMPLED = {"variance": "var_samp", "standard_deviation": "stddev_samp", "covariance": "covar_samp"}
BY_UNIT = {
    "count": "count",
    "sum": "sum",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "any": "bool_or",
    "all": "bool_and",
}


def written_sql(relation: RelationNode) -> str:
    """One SELECT that says the same as a relation.

    Examples
    --------
    >>> from discreet.core.neighbors import Unit
    >>> from discreet.schema.schema import Number, Schema
    >>> visits = StoredRows("visits", Schema({"stay": Number(0, 60)}), Unit("user", "who"))
    >>> each = PerUnit.read(FilteredRows.read(visits, "not stay > 3"), {"longest": "max of stay"}, {})
    >>> print(written_sql(each))
    SELECT "who", max("stay") AS "longest" FROM "visits" WHERE ("stay" <= 3 OR "stay" IS NULL) GROUP BY "who"
    """
    return _Writer(count(1).__next__).select(relation)


@dataclass
class _Writer:
    """Writes nodes, and names queries that are inside others."""

    number: Callable[[], int]

    def select(self, node: RelationNode) -> str:
        """A whole SELECT."""
        match node:
            case ShownGroups():
                return self._shown(node)
            case StatisticRows(of=GroupedRows() as groups):
                return self._statistics(node, groups)
            case PerUnit():
                return self._per_unit(node)
            case LimitedRows(of=PerUnit() as inner):
                return self._per_unit(inner)
            case ComputedRows():
                new = [f"{expression_sql(one.expression)} AS {quoted(one.name)}" for one in node.columns]
                return f"SELECT *, {', '.join(new)} FROM {self.rows(node.of)}"
            case (
                FilteredRows()
                | ListedRows()
                | StoredRows()
                | PublicRows()
                | JoinedRows()
                | LimitedRows(of=StoredRows())
            ):
                return f"SELECT * FROM {self.rows(node)}"
            case _:
                raise NotPermitted(f"sql of {node.words}", "it cannot be said in SQL", "Ask for it step by step.")

    def rows(self, node: RelationNode) -> str:
        """What stands behind FROM, with its WHERE."""
        conditions: list[str] = []
        while isinstance(node, FilteredRows | ListedRows):
            if isinstance(node, FilteredRows):
                conditions.insert(0, condition_sql(node.condition))
            node = node.of
        return f"{self._from(node)}{f' WHERE {_all_of(conditions)}' if conditions else ''}"

    def _from(self, node: RelationNode) -> str:
        match node:
            case StoredRows(name=name) | PublicRows(name=name) | LimitedRows(of=StoredRows(name=name)):
                return quoted(name)
            case JoinedRows():
                return self._join(node)
            case _:
                return f"({self.select(node)}) AS q{self.number()}"

    def _join(self, node: JoinedRows) -> str:
        """Both sides, each named: refused where columns of both are called alike, which SQL would tell apart."""
        left, right = self._named(node.left), self._named(node.right)
        if any(own != name for own, name in zip(node.added, node.names, strict=True)):
            obstacle = "columns of a joined table were given other names"
            raise NotPermitted(node.words, obstacle, "Call columns differently in both tables.")
        unit = node.protected.column if node.by_unit and node.protected is not None else None
        pairs = [*([(unit, unit)] if unit is not None else []), *node.on]
        on = " AND ".join(f"{left[1]}.{quoted(one)} = {right[1]}.{quoted(other)}" for one, other in pairs)
        return f"{left[0]} {'LEFT JOIN' if node.outer else 'JOIN'} {right[0]} ON {on}"

    def _named(self, node: RelationNode) -> tuple[str, str]:
        name = f"q{self.number()}"
        if isinstance(node, StoredRows | PublicRows):
            return f"{quoted(node.name)} AS {name}", name
        if isinstance(node, LimitedRows) and isinstance(node.of, StoredRows):
            return f"{quoted(node.of.name)} AS {name}", name
        return f"({self.select(node)}) AS {name}", name

    def _per_unit(self, node: PerUnit) -> str:
        unit = node.protected.column if node.protected is not None else None
        keys = [quoted(str(unit)), *map(quoted, node.by)]
        made = [f"{_gathered(one)} AS {quoted(one.name)}" for one in node.columns]
        return f"SELECT {', '.join([*keys, *made])} FROM {self.rows(node.of)} GROUP BY {', '.join(keys)}"

    def _statistics(self, node: StatisticRows, groups: GroupedRows) -> str:
        keys = [quoted(name) for name in groups.by]
        asked = [f"{_statistic(one)} AS {quoted(one.label)}" for one in node.statistics]
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join([*keys, *asked])} FROM {self.rows(groups.of)}{by}"

    def _shown(self, node: ShownGroups) -> str:
        having = [f"{quoted(one.column)} {SIGNS.get(one.sign, one.sign)} {one.value!r}" for one in node.having]
        order = [f"{quoted(one.column)}{' DESC' if one.descends else ''}" for one in node.order]
        return "".join(
            [
                self.select(node.of),
                f" HAVING {' AND '.join(having)}" if having else "",
                f" ORDER BY {', '.join(order)}" if order else "",
                "" if node.limit is None else f" LIMIT {node.limit}",
            ]
        )


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _all_of(conditions: list[str]) -> str:
    return " AND ".join(conditions)


def _statistic(one: RowStatistic) -> str:
    options = dict(one.options)
    column, q, columns = (options.pop(name, None) for name in ("column", "q", "columns"))
    sampled = options.pop("population", False) if columns else options.pop("ddof", 0) == 1
    own = ", ".join(map(quoted, columns)) if columns else "*" if column is None else quoted(column)
    if one.statistic == "count_distinct" and not options:
        return f"count(DISTINCT {own})"
    if options or (one.statistic not in STATISTICS and one.statistic != "quantile"):
        obstacle = f"{one.statistic.replace('_', ' ')}{f' with {next(iter(options))}' if options else ''} is not in SQL"
        raise NotPermitted(f"sql of {one.label}", obstacle, "Ask for it as a function.")
    if one.statistic == "quantile":
        return f"quantile({own}, {q!r})"
    return f"{(SAMPLED if sampled else STATISTICS).get(one.statistic, STATISTICS[one.statistic])}({own})"


def _gathered(one: UnitColumn) -> str:
    if one.of is None:
        return "count(*)"
    if isinstance(one.of, str):
        return f"{'count' if one.way == 'count' else 'any_value'}({quoted(one.of)})"
    of = condition_sql(one.of) if one.way in ("any", "all") else expression_sql(one.of)  # type: ignore[arg-type]
    return f"{BY_UNIT.get(one.way, one.way)}({of})"


def expression_sql(found: Expression) -> str:
    """A number that is computed from one record, in SQL."""
    match found:
        case ColumnValue(column=column):
            return quoted(column)
        case Arithmetic(sign=sign, left=left, right=right):
            return f"({expression_sql(left)} {sign} {expression_sql(right)})"
        case Applied(function=function, of=of):
            return f"{function}({', '.join(map(expression_sql, of))})"
        case Case(whens=whens, otherwise=otherwise):
            parts = [f"WHEN {condition_sql(when)} THEN {expression_sql(then)}" for when, then in whens]
            last = "" if otherwise is None else f" ELSE {expression_sql(otherwise)}"
            return f"CASE {' '.join(parts)}{last} END"
        case _:
            return str(found)


def condition_sql(found: Condition, negated: bool = False) -> str:
    """A condition in SQL, which has three truth values: what is not true of a missing value is said so."""
    match found:
        case Not(of=of):
            return condition_sql(of, not negated)
        case Missing(column=column):
            return f"{quoted(column)} IS {'NOT ' if negated else ''}NULL"
        case Joined(word=word, parts=parts):
            joining = {"and": " AND ", "or": " OR "}[word if not negated else {"and": "or", "or": "and"}[word]]
            return f"({joining.join(condition_sql(part, negated) for part in parts)})"
        case Compared(column=column, sign=sign, shown=shown):
            return _compared(quoted(column), sign, shown, [column], negated)
        case ComparedColumns(left=left, sign=sign, right=right):
            return _compared(quoted(left), sign, quoted(right), [left, right], negated)
        case _:
            raise NotPermitted("sql", f"{found} is not in SQL", "Ask for it as a function.")


def _compared(left: str, sign: str, right: str, columns: list[str], negated: bool) -> str:
    own = OPPOSITE[sign] if negated else sign
    plain = f"{left} {SIGNS.get(own, own)} {right}"
    if not negated:
        return plain
    return f"({' OR '.join([plain, *(f'{quoted(column)} IS NULL' for column in columns)])})"
