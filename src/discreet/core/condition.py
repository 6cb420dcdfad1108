"""Which records a question is about: comparisons of columns, the same in numpy and in SQL."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.formula import Formula
from discreet.core.grid import Array

Mask = NDArray[np.bool_]
Values = Mapping[str, Array]
Places = Mapping[str, int]
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Condition(Protocol):
    """What a record fulfils or not: by itself, and whatever it holds.

    `str` writes it in one way only, in the language of `condition_of`.
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""

    def mask(self, values: Values) -> Mask:
        """Whether each record fulfils it, from columns as `Batched.batches` gives them."""

    def sql(self, places: Places) -> str:
        """The same in SQL, never NULL, where a column is c0, c1, ... by its place."""


@dataclass(frozen=True)
class Compared:
    """A comparison of a column with a number: its own, the place of a category's value, or that of a date.

    Parameters
    ----------
    column, sign : str
        Public. What is compared, and how.
    value : float
        Public. With what.
    shown : str
        Public. How that is written.
    """

    column: str
    sign: str
    value: float
    shown: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def mask(self, values: Values) -> Mask:
        """Whether each record fulfils it; one without a value does not."""
        own = values[self.column]
        found: Mask = SIGNS[self.sign](own, self.value) & ~np.isnan(own)
        return found

    def sql(self, places: Places) -> str:
        return _compared(_column(self.column, places), self.sign, Formula.constant(self.value).sql)

    def __str__(self) -> str:
        return f"{name_of(self.column)} {self.sign} {self.shown}"


@dataclass(frozen=True)
class ComparedColumns:
    """A comparison of two columns; a record without a value in one of them does not fulfil it."""

    left: str
    sign: str
    right: str

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.left, self.right)))

    def mask(self, values: Values) -> Mask:
        left, right = values[self.left], values[self.right]
        found: Mask = SIGNS[self.sign](left, right) & ~np.isnan(left) & ~np.isnan(right)
        return found

    def sql(self, places: Places) -> str:
        return _compared(_column(self.left, places), self.sign, _column(self.right, places))

    def __str__(self) -> str:
        return f"{name_of(self.left)} {self.sign} {name_of(self.right)}"


@dataclass(frozen=True)
class Missing:
    """Whether a column has no value."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def mask(self, values: Values) -> Mask:
        """Whether each record has none."""
        return np.isnan(values[self.column])

    def sql(self, places: Places) -> str:
        return f"({_column(self.column, places)} IS NULL)"

    def __str__(self) -> str:
        return f"{name_of(self.column)} is missing"


@dataclass(frozen=True)
class Not:
    """What does not fulfil a condition: one of the two holds for every record."""

    of: Condition

    @property
    def columns(self) -> tuple[str, ...]:
        return self.of.columns

    def mask(self, values: Values) -> Mask:
        return ~self.of.mask(values)

    def sql(self, places: Places) -> str:
        return f"(NOT {self.of.sql(places)})"

    def __str__(self) -> str:
        return f"not ({self.of})" if isinstance(self.of, Joined) else f"not {self.of}"


@dataclass(frozen=True)
class Joined:
    """All of some conditions, or any of them.

    Parameters
    ----------
    word : {"and", "or"}
        Public. Whether all must hold, or one.
    parts : tuple of Condition
        Public. At least two.
    """

    word: str
    parts: tuple[Condition, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.columns))

    def mask(self, values: Values) -> Mask:
        joined = np.logical_and if self.word == "and" else np.logical_or
        first, *others = (part.mask(values) for part in self.parts)
        for other in others:
            first = joined(first, other)
        return first

    def sql(self, places: Places) -> str:
        return f"({f' {self.word.upper()} '.join(part.sql(places) for part in self.parts)})"

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({part})" if isinstance(part, Joined) else str(part) for part in self.parts)


def asks_for_missing(condition: Condition) -> bool:
    """Whether any part of it is about missing values."""
    if isinstance(condition, Not):
        return asks_for_missing(condition.of)
    if isinstance(condition, Joined):
        return any(map(asks_for_missing, condition.parts))
    return isinstance(condition, Missing)


def name_of(column: str) -> str:
    """A column as a condition names it: between backticks, which are doubled inside, if it is no plain word.

    Examples
    --------
    >>> name_of("age"), name_of("home town")
    ('age', '`home town`')
    """
    return column if column.isidentifier() and column.lower() not in WORDS else f"`{column.replace('`', '``')}`"


WORDS = {"and", "or", "not", "in", "is", "missing", "null", "true", "false"}


def _column(name: str, places: Places) -> str:
    return Formula.column(places[name]).sql


def _compared(left: str, sign: str, right: str) -> str:
    written = {"==": "=", "!=": "<>"}.get(sign, sign)
    return f"coalesce({left} {written} {right}, FALSE)"
