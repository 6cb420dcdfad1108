"""Numbers and conditions of a statement that are about one record, as `derive` and `where` read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from discreet.core.checks import instead_of
from discreet.core.condition import name_of
from discreet.query.select.sql_text import (
    ARITHMETIC,
    COMPUTED,
    FUNCTIONS,
    OF_TWO,
    OPPOSITE,
    REFUSED,
    SIGNS,
    STATISTICS,
    SqlText,
    kind_of,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


@dataclass(frozen=True)
class RowReader:
    """Reads what is said about single records: numbers and conditions, in the languages of this library.

    SQL has three truth values, and a record is chosen where its condition is true. Here a comparison with a missing
    value is false; so `NOT` is moved inwards, to the comparisons, where both agree.

    Parameters
    ----------
    sql : SqlText
        The statement.
    names : mapping of str to str
        Public. The columns of the data, by their names in the statement.
    derived : callable
        Makes a column of a number, and gives its name.
    tables : mapping of str to mappings
        Public. The columns of each table that was joined, by the table's name.
    """

    sql: SqlText
    names: Mapping[str, str]
    derived: Callable[[str], str]
    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def column(self, node: Node) -> str:
        """The column that is named; capitals may differ."""
        name = node.name
        if node.args.get("table") is not None and node.args.get("db") is not None:
            self.sql.refused(node, "a column is named with more than its table", f"Write {name}.")
        names = self._named(node)
        found = names.get(name) or _any_case(name, names)
        if found is None and name.lower() in self._shared():
            self.sql.refused(node, f"{name} is in several tables", f"Write such as {next(iter(self.tables))}.{name}.")
        if found is None:
            self.sql.refused(node, f"there is no column {name!r:.60}", instead_of(name, names))
        return found

    def _named(self, node: Node) -> Mapping[str, str]:
        """The columns that are meant: those of one table, where several are joined and one is named."""
        table = node.args.get("table")
        if table is None or not self.tables:
            return self.names
        if table.name.lower() not in self.tables:
            self.sql.refused(node, f"there is no table {table.name!r:.60} here", f"There are {', '.join(self.tables)}.")
        return self.tables[table.name.lower()]

    def _shared(self) -> set[str]:
        """What columns of several tables are called."""
        every = [name.lower() for names in self.tables.values() for name in names]
        return {name for name in every if every.count(name) > 1}

    def number(self, node: Node) -> str:
        """A number of each record, as `expression_of` reads it."""
        kind = kind_of(node)
        if kind == "Paren":
            return f"({self.number(node.this)})"
        if kind == "Column":
            return name_of(self.column(node))
        if kind == "Literal" and not node.is_string:
            return str(node.this)
        if kind == "Boolean":
            return "1" if node.this else "0"
        if kind == "Neg":
            return f"(-{self.number(node.this)})"
        if kind in ARITHMETIC:
            return f"({self.number(node.this)} {ARITHMETIC[kind]} {self.number(node.expression)})"
        if kind in FUNCTIONS and not node.args.get("decimals"):
            return f"{FUNCTIONS[kind]}({self.number(node.this)})"
        if kind in OF_TWO:
            return self._of_two(OF_TWO[kind], [node.this, *node.expressions])
        if kind in ("Case", "If"):
            return self._case(node)
        if is_condition(node):
            return f"case when {self.condition(node)} then 1 when {self.condition(node, True)} then 0 end"
        return self._refuse(node, "a number", f"Compute with columns, numbers, + - * /, CASE, {', '.join(COMPUTED)}.")

    def _of_two(self, function: str, given: list[Node]) -> str:
        first, *others = (self.number(one) for one in given)
        for other in others:
            first = f"{function}({first}, {other})"
        return first

    def _case(self, node: Node) -> str:
        ifs = node.args["ifs"] if kind_of(node) == "Case" else [node]
        subject = node.this if kind_of(node) == "Case" else None
        whens = []
        for one in ifs:
            test = self.condition(one.this) if subject is None else self._compared(subject, "==", one.this)
            whens.append(f"when {test} then {self.number(one.args['true'])}")
        other = node.args.get("default") if kind_of(node) == "Case" else node.args.get("false")
        return f"case {' '.join(whens)}{'' if other is None else f' else {self.number(other)}'} end"

    def condition(self, node: Node, negated: bool = False) -> str:
        """A condition on each record, as `condition_of` reads it."""
        kind = kind_of(node)
        if kind == "Paren":
            return self.condition(node.this, negated)
        if kind == "Not":
            return self.condition(node.this, not negated)
        if kind in ("And", "Or"):
            word = "and" if (kind == "And") != negated else "or"
            return f"({self.condition(node.this, negated)} {word} {self.condition(node.expression, negated)})"
        if kind in SIGNS:
            sign = OPPOSITE[SIGNS[kind]] if negated else SIGNS[kind]
            return self._compared(node.this, sign, node.expression)
        if kind == "Between" and not node.args.get("symmetric"):
            low, high = (">=", "<=") if not negated else ("<", ">")
            ends = ((low, node.args["low"]), (high, node.args["high"]))
            parts = [self._compared(node.this, sign, end) for sign, end in ends]
            return f"({' or '.join(parts) if negated else ' and '.join(parts)})"
        if kind == "In" and node.expressions:
            sign, word = ("!=", "and") if negated else ("==", "or")
            return f"({f' {word} '.join(self._compared(node.this, sign, one) for one in node.expressions)})"
        if kind == "Is" and kind_of(node.expression) == "Null":
            return f"{name_of(self._compared_column(node.this))} is {'not ' if negated else ''}missing"
        if kind in ("Column", "Boolean") or (kind == "Is" and kind_of(node.expression) == "Boolean"):
            return self._truth(node, negated)
        remedy = "Compare columns and numbers, with AND, OR, NOT, IN, BETWEEN, IS NULL."
        return self._refuse(node, "a condition", remedy)

    def _truth(self, node: Node, negated: bool) -> str:
        if kind_of(node) == "Is":  # unlike a comparison, it is never unknown
            column = name_of(self._compared_column(node.this))
            value = "true" if node.expression.this else "false"
            return f"({column} != {value} or {column} is missing)" if negated else f"{column} == {value}"
        if kind_of(node) == "Boolean":
            self._refuse(node, "a condition that reads a column", "Leave it out.")
        return f"{name_of(self.column(node))} == {'false' if negated else 'true'}"

    def _compared(self, left: Node, sign: str, right: Node) -> str:
        return f"{self._operand(left)} {sign} {self._operand(right)}"

    def _operand(self, node: Node) -> str:
        """What is compared: a column, a number, a text, a date or a truth value."""
        kind = kind_of(node)
        if kind == "Paren":
            return self._operand(node.this)
        if kind == "Literal":
            return _quoted(node.this) if node.is_string else str(node.this)
        if kind == "Neg" and kind_of(node.this) == "Literal" and not node.this.is_string:
            return f"-{node.this.this}"
        if kind == "Boolean":
            return "true" if node.this else "false"
        if kind in ("Cast", "TryCast") and kind_of(node.this) == "Literal" and node.this.is_string:
            return _quoted(node.this.this)
        return name_of(self._compared_column(node))

    def _compared_column(self, node: Node) -> str:
        return self.column(node) if kind_of(node) == "Column" else self.derived(self.number(node))

    def _refuse(self, node: Node, wanted: str, remedy: str) -> NoReturn:
        kind = kind_of(node)
        reason = REFUSED.get(kind, f"{wanted} is wanted, and this is none that is known here")
        if kind in STATISTICS:
            reason = "a statistic stands where the values of single records are wanted"
        self.sql.refused(node, reason, remedy)


def _any_case(name: str, names: Mapping[str, str]) -> str | None:
    found = [own for shown, own in names.items() if shown.lower() == name.lower()]
    return found[0] if len(found) == 1 else None


def is_condition(node: Node) -> bool:
    """Whether a part of a statement is a condition."""
    return kind_of(node) in (*SIGNS, "And", "Or", "Not", "Between", "In", "Is")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
