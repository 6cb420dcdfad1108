"""Numbers that are computed from one record: the same in numpy and in SQL, inside bounds that are known beforehand.

Every operation is one of IEEE 754, so that engines get the same bits. Rounding is monotone: the ends of what an
operation can give are found by that operation at the ends of what it is given. So that no engine meets an overflow or
an underflow, which some report as errors, numbers below `TINY` in a column are taken for zero, and the least magnitude
that an operation can give is followed along with the greatest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Protocol

import numpy as np

from discreet.core.condition import Condition, Places, Values, name_of
from discreet.core.errors import ParameterError
from discreet.core.formula import Formula
from discreet.core.grid import Array

TINY = 2.0**-250  # what is nearer to zero in a column is zero in an expression
LEAST, MOST = 2.0**-960, 2.0**960  # magnitudes that expressions may have, and zero
LONGEST_SQL = 2**16  # letters of the SQL of one expression
ASKED = "expression"


@dataclass(frozen=True)
class Span:
    """Between which numbers a number is, and how near to zero it can be without being zero.

    Examples
    --------
    >>> Span(0.0, 60.0) * Span(24.0, 24.0)
    Span(lower=0.0, upper=1440.0, least=...)
    """

    lower: float
    upper: float
    least: float = TINY
    grain: float | None = None

    def __post_init__(self) -> None:
        if not (-MOST <= self.lower <= self.upper <= MOST and self.least >= LEAST):
            obstacle = "its numbers could become too large, or too near to zero, to be computed alike everywhere"
            raise ParameterError(ASKED, obstacle, "Multiply and divide fewer columns, or rescale them.")

    @property
    def most(self) -> float:
        """The greatest magnitude."""
        return max(abs(self.lower), abs(self.upper))

    @property
    def multiple(self) -> float:
        """A number of which all others are whole multiples: the last place of the one that is nearest to zero."""
        return self.least * 2.0**-53 if self.grain is None else self.grain

    def __add__(self, other: Span) -> Span:
        # both are whole multiples of one number, so a sum that is not zero is one, too, and no less than that
        grain = min(self.multiple, other.multiple)
        return Span(self.lower + other.lower, self.upper + other.upper, grain, grain)

    def __sub__(self, other: Span) -> Span:
        return self + Span(-other.upper, -other.lower, other.least, other.grain)

    def __mul__(self, other: Span) -> Span:
        ends = [one * two for one, two in product((self.lower, self.upper), (other.lower, other.upper))]
        return Span(min(ends), max(ends), self.least * other.least / 2)

    def __truediv__(self, other: Span) -> Span:
        divisors = [end for end in (other.lower, -other.least, other.least, other.upper) if end != 0 and other.has(end)]
        if not divisors:
            raise ParameterError(ASKED, "it divides by zero, always", "Divide by a number that can be another.")
        ends = [one / two for one, two in product((self.lower, self.upper), divisors)]
        return Span(min(ends), max(ends), self.least / other.most / 2)

    def has(self, value: float) -> bool:
        """Whether the number can be this one, by its ends."""
        return self.lower <= value <= self.upper

    def joined(self, other: Span) -> Span:
        """Either of two numbers."""
        return Span(min(self.lower, other.lower), max(self.upper, other.upper), min(self.least, other.least))


class Expression(Protocol):
    """A number of one record, computed from that record alone; missing where it cannot be computed."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""

    @property
    def span(self) -> Span:
        """Where it can be, whatever the record holds."""

    def values(self, values: Values) -> Array:
        """The number of each record, nan where it is missing."""

    def sql(self, places: Places) -> str:
        """The same in SQL, NULL where it is missing, where a column is c0, c1, ... by its place."""


@dataclass(frozen=True)
class ColumnValue:
    """The number in a column; a truth value is 0 or 1.

    Parameters
    ----------
    column : str
        Public. Its name.
    lower, upper : float
        Public. Its bounds, as the schema has them.
    """

    column: str
    lower: float
    upper: float

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @cached_property
    def span(self) -> Span:
        return Span(*(0.0 if abs(end) < TINY else end for end in (self.lower, self.upper)))

    def values(self, values: Values) -> Array:
        found = values[self.column]
        return np.where(np.abs(found) < TINY, 0.0, found)

    def sql(self, places: Places) -> str:
        own = Formula.column(places[self.column]).sql
        return f"CASE WHEN abs({own}) < {Formula.constant(TINY).sql} THEN 0.0e0 ELSE {own} END"

    def __str__(self) -> str:
        return name_of(self.column)


@dataclass(frozen=True)
class Constant:
    """The same number for every record."""

    value: float

    columns = ()

    @property
    def span(self) -> Span:
        return Span(self.value, self.value, abs(self.value) or 1.0)

    def values(self, values: Values) -> Array:
        return np.full(_rows(values), self.value)

    def sql(self, places: Places) -> str:
        return Formula.constant(self.value).sql

    def __str__(self) -> str:
        return f"{self.value:.0f}" if self.value == round(self.value) and abs(self.value) < 1e15 else repr(self.value)


@dataclass(frozen=True)
class Arithmetic:
    """A sum, a difference, a product or a quotient; missing where one of the two is, and where it is divided by zero.

    Parameters
    ----------
    sign : {"+", "-", "*", "/"}
        Public. What is done.
    left, right : Expression
        Public. With what.
    """

    sign: str
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        _ = self.span  # refused here, where it cannot be computed

    @property
    def columns(self) -> tuple[str, ...]:
        return _columns((self.left, self.right))

    @cached_property
    def span(self) -> Span:
        return _done(self.sign, self.left.span, self.right.span)

    def values(self, values: Values) -> Array:
        left, right = self.left.values(values), self.right.values(values)
        if self.sign == "/":
            right = np.where(right == 0, np.nan, right)
        found: Array = _done(self.sign, left, right)
        return found

    def sql(self, places: Places) -> str:
        left, right = self.left.sql(places), self.right.sql(places)
        return f"({left} {self.sign} {f'nullif({right}, 0.0e0)' if self.sign == '/' else right})"

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


@dataclass(frozen=True)
class Applied:
    """A function of one or two numbers; missing where one of them is, except for the first of `coalesce`.

    Parameters
    ----------
    function : str
        Public. One of `FUNCTIONS`.
    of : tuple of Expression
        Public. What it is applied to.
    """

    function: str
    of: tuple[Expression, ...]

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise ParameterError(
                ASKED, f"there is no function {self.function!r:.40}", f"There are {', '.join(FUNCTIONS)}."
            )
        if len(self.of) != FUNCTIONS[self.function].takes:
            takes = FUNCTIONS[self.function].takes
            raise ParameterError(ASKED, f"{self.function} is given {len(self.of)} numbers", f"Give it {takes}.")
        _ = self.span

    @property
    def columns(self) -> tuple[str, ...]:
        return _columns(self.of)

    @cached_property
    def span(self) -> Span:
        return FUNCTIONS[self.function].span(*(one.span for one in self.of))

    def values(self, values: Values) -> Array:
        return FUNCTIONS[self.function].values(*(one.values(values) for one in self.of))

    def sql(self, places: Places) -> str:
        return FUNCTIONS[self.function].sql(*(one.sql(places) for one in self.of))

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.of))})"


@dataclass(frozen=True)
class Case:
    """The number that belongs to the first condition which a record fulfils; else another one, or none.

    Parameters
    ----------
    whens : tuple of (Condition, Expression)
        Public. The conditions, in order, and their numbers.
    otherwise : Expression, optional
        Public. The number of a record that fulfils none of them.
    """

    whens: tuple[tuple[Condition, Expression], ...]
    otherwise: Expression | None = None

    @property
    def _given(self) -> tuple[Expression, ...]:
        return (*(one for _, one in self.whens), *(() if self.otherwise is None else (self.otherwise,)))

    @property
    def columns(self) -> tuple[str, ...]:
        asked = [name for condition, _ in self.whens for name in condition.columns]
        return tuple(dict.fromkeys([*asked, *_columns(self._given)]))

    @cached_property
    def span(self) -> Span:
        first, *others = (one.span for one in self._given)
        for other in others:
            first = first.joined(other)
        return first

    def values(self, values: Values) -> Array:
        found = np.full(_rows(values), np.nan) if self.otherwise is None else self.otherwise.values(values)
        for condition, one in reversed(self.whens):
            found = np.where(condition.mask(values), one.values(values), found)
        return found

    def sql(self, places: Places) -> str:
        whens = " ".join(f"WHEN {condition.sql(places)} THEN {one.sql(places)}" for condition, one in self.whens)
        return f"CASE {whens}{'' if self.otherwise is None else f' ELSE {self.otherwise.sql(places)}'} END"

    def __str__(self) -> str:
        whens = " ".join(f"when {condition} then {one}" for condition, one in self.whens)
        return f"case {whens}{'' if self.otherwise is None else f' else {self.otherwise}'} end"


@dataclass(frozen=True)
class Function:
    """How a function is computed: its bounds, its numbers, and its SQL."""

    takes: int
    span: Callable[..., Span]
    values: Callable[..., Array]
    sql: Callable[..., str]


def _root_span(one: Span) -> Span:
    if one.lower < 0:
        raise ParameterError(ASKED, "it takes the root of a number that may be negative", "Write sqrt(greatest(x, 0)).")
    return Span(math.sqrt(one.lower), math.sqrt(one.upper), math.sqrt(one.least) / 2)


def _absolute_span(one: Span) -> Span:
    return Span(0.0 if one.has(0) else min(abs(one.lower), abs(one.upper)), one.most, one.least)


def _picked(left: str, sign: str, opposite: str, right: str) -> str:
    """One of two numbers in SQL, and NULL where one of them is. Each is written thrice: refused, where that grows."""
    found = f"CASE WHEN {left} {sign} {right} THEN {left} WHEN {left} {opposite} {right} THEN {right} END"
    if len(found) > LONGEST_SQL:
        obstacle = f"too many of `least` and `greatest` are inside one another: its SQL has over {LONGEST_SQL} letters"
        raise ParameterError(ASKED, obstacle, "Derive the inner ones as columns of their own first.")
    return found


def _first_known(one: Array, two: Array) -> Array:
    return np.where(np.isnan(one), two, one)


def _rounded_span(rounded: Callable[[float], float]) -> Callable[[Span], Span]:
    return lambda one: Span(float(rounded(one.lower)), float(rounded(one.upper)), 1.0)


FUNCTIONS = {
    "abs": Function(1, _absolute_span, np.abs, lambda one: f"abs({one})"),
    "floor": Function(1, _rounded_span(np.floor), np.floor, lambda one: f"floor({one})"),
    "ceil": Function(1, _rounded_span(np.ceil), np.ceil, lambda one: f"ceil({one})"),
    "sqrt": Function(1, _root_span, np.sqrt, lambda one: f"sqrt({one})"),
    "least": Function(
        2,
        lambda one, two: Span(min(one.lower, two.lower), min(one.upper, two.upper), min(one.least, two.least)),
        np.minimum,
        lambda one, two: _picked(one, "<=", ">", two),
    ),
    "greatest": Function(
        2,
        lambda one, two: Span(max(one.lower, two.lower), max(one.upper, two.upper), min(one.least, two.least)),
        np.maximum,
        lambda one, two: _picked(one, ">=", "<", two),
    ),
    "coalesce": Function(2, Span.joined, _first_known, lambda one, two: f"coalesce({one}, {two})"),
}


def _done(sign: str, left: Any, right: Any) -> Any:
    match sign:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return left / right


def _columns(parts: Iterable[Expression]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part.columns))


def _rows(values: Mapping[str, Array]) -> int:
    return len(next(iter(values.values()))) if values else 0
