"""A text in SQL, taken apart: what it may say is listed here, and all else is refused, with the word and its place."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeVar

from discreet.core.errors import MissingExtra, NotPermitted, ParameterError, SchemaError

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

Made = TypeVar("Made")
LONGEST, DEEPEST, MOST_TOKENS = 2**14, 64, 2**12
ASKED = "sql"
WRITTEN = ("NUMBER", "STRING")
SIGNS = {"EQ": "==", "NEQ": "!=", "GT": ">", "GTE": ">=", "LT": "<", "LTE": "<="}
OPPOSITE = {"==": "!=", "!=": "==", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}
ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}
FUNCTIONS = {"Abs": "abs", "Floor": "floor", "Ceil": "ceil", "Sqrt": "sqrt"}
OF_TWO = {"Least": "least", "Greatest": "greatest", "Coalesce": "coalesce"}
COMPUTED = (*FUNCTIONS.values(), *OF_TWO.values())
STATISTICS = {
    "Count": "count",
    "Sum": "total",
    "Avg": "mean",
    "Variance": "variance",
    "VariancePop": "variance",
    "Stddev": "standard_deviation",
    "StddevPop": "standard_deviation",
    "StddevSamp": "standard_deviation",
    "Min": "minimum",
    "Max": "maximum",
    "Median": "median",
    "Quantile": "quantile",
    "ApproxQuantile": "quantile",
    "WithinGroup": "quantile",
    "CovarPop": "covariance",
    "CovarSamp": "covariance",
    "Corr": "correlation",
}
OF_PAIRS = ("CovarPop", "CovarSamp", "Corr")
PERCENTILES = ("PercentileCont", "PercentileDisc")
LESS_ONE = ("Variance", "Stddev", "StddevSamp")
OF_A_POPULATION = ("CovarSamp",)
REFUSED = {
    "Window": "a window function ranks and adds over rows, which bounds nothing",
    "Union": "tables cannot be put below one another",
    "Join": "tables are joined in FROM",
    "Filter": "a statistic of some of the rows is a question by itself",
    "Distinct": "only units, and the values of a column, can be counted once each",
    "Subquery": "a query inside an expression reads other rows",
    "Select": "a query inside an expression reads other rows",
}


@dataclass(frozen=True)
class SqlText:
    """A statement as it was written, for errors that show where.

    Parameters
    ----------
    text : str
        Public. At most `LONGEST` letters. Whoever wrote it may be hostile: nothing of it is run.
    """

    text: str

    def parsed(self) -> Node:
        """The one SELECT that it is."""
        self._check_size()
        try:
            import sqlglot
            from sqlglot.errors import SqlglotError
        except ImportError as why:
            raise MissingExtra("read SQL", "sqlglot is not installed", "Run: pip install 'discreet[sql]'.") from why
        try:
            found = sqlglot.parse(self.text, dialect="duckdb")
        except (SqlglotError, RecursionError) as why:
            line = str(why).partition("\n")[0][:200]
            raise ParameterError(ASKED, f"it cannot be read: {line}", "Write one SELECT.") from None
        statements = [one for one in found if one is not None and kind_of(one) != "Semicolon"]  # comments at the end
        self._check_single(statements)
        self._check_whole(statements[0])
        return statements[0]

    def _check_single(self, statements: Sequence[Node]) -> None:
        """Refuse what is not one SELECT, and show what else there is."""
        obstacle, remedy = "it is not one SELECT", "Write one SELECT, and nothing behind it."
        if not statements:
            raise NotPermitted(ASKED, obstacle, remedy)
        for one in statements[1:] if kind_of(statements[0]) == "Select" else statements:
            why = f": {REFUSED['Union']}" if kind_of(one) == "Union" else ""
            self.refused(one, f"{obstacle}{why}", remedy)

    def _check_whole(self, node: Node) -> None:
        """Refuse a number or a text that the parser overlooks, as it does with arguments that it does not know."""
        import sqlglot

        there = [one for one in node.walk() if kind_of(one) in ("Literal", "Identifier")]  # names may be between quotes
        tokens = [one for one in sqlglot.tokenize(self.text, dialect="duckdb") if one.token_type.name in WRITTEN]
        written = Counter(one.text for one in tokens if one.token_type.name == "STRING")
        numbers = [one.text for one in tokens if one.token_type.name == "NUMBER"]
        over = [*(written - Counter(one.name for one in there))]
        if sum(kind_of(one) == "Literal" and not one.is_string for one in there) < len(numbers):
            over += numbers
        if over:
            obstacle = f"{', '.join(over):.60}: one of them stands where nothing is read"
            raise ParameterError(ASKED, obstacle, "Give functions what they take, and no more.")

    def _check_size(self) -> None:
        if not isinstance(self.text, str) or len(self.text) > LONGEST:
            raise ParameterError(ASKED, f"it is no text of up to {LONGEST} letters", "Write less.")
        depth = most = 0
        for letter in self.text:
            depth += (letter in "([{") - (letter in ")]}")
            most = max(most, depth)
        words = len(re.findall(r"\w+|[^\w\s]", self.text))
        repeated = re.search(r"(?:\b(?:not|case)\b\W*){32}|(?:[-+~]\s*){32}", self.text, re.IGNORECASE)
        if most > DEEPEST or words > MOST_TOKENS or repeated:
            obstacle = f"it has {words} words, with {most} brackets inside one another"
            raise ParameterError(ASKED, obstacle, f"Write up to {MOST_TOKENS}, with up to {DEEPEST} brackets.")

    def refused(self, node: Node, obstacle: str, remedy: str) -> NoReturn:
        """Refuse a part of it, and show where it stands."""
        raise NotPermitted(f"{ASKED} {self._marked(node)!r}", f"{obstacle}{self._place(node)}", remedy)

    def showing(self, node: Node, action: Callable[[], Made]) -> Made:
        """What an action gives; where it is refused, with the part of the statement that asks for it."""
        try:
            return action()
        except (NotPermitted, ParameterError, SchemaError) as why:
            self.refused(node, f"{why.asked}: {why.obstacle}", why.remedy)

    def _marked(self, node: Node) -> str:
        from sqlglot import ErrorLevel

        written = node.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE)
        return " ".join(written.split())[:80]

    def _place(self, node: Node) -> str:
        starts = [one.meta["start"] for one in node.walk() if "start" in one.meta]
        if not starts:  # of words alone, such as DISTINCT: they are looked for, and may stand there once
            word = re.escape(self._marked(node).partition(" ")[0])
            found = [one.start() for one in re.finditer(rf"\b{word}\b", self.text, re.IGNORECASE)]
            starts = found if len(found) == 1 else []
        return place_in(self.text, min(starts)) if starts else ""


def kind_of(node: Node) -> str:
    """What a part of a statement is, by the name of its class in sqlglot."""
    return type(node).__name__


def number_of(sql: SqlText, node: Node) -> float:
    """The number that is written there, and nothing that is computed."""
    if kind_of(node) == "Neg":
        return -number_of(sql, node.this)
    if kind_of(node) != "Literal" or node.is_string or not math.isfinite(float(node.this)):
        sql.refused(node, "it is no number", "Write a plain number.")
    return float(node.this)


def place_in(text: str, start: int) -> str:
    """Where a letter of a text stands, for errors.

    Examples
    --------
    >>> place_in("SELECT count(*)", 7)
    ', in line 1, letter 8'
    """
    before = text[:start]
    return f", in line {before.count(chr(10)) + 1}, letter {len(before) - before.rfind(chr(10))}"
