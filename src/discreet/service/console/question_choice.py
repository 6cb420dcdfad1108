"""A question that was put together from columns, groups and conditions, as words, SQL and Python."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.condition import name_of
from discreet.core.errors import ParameterError
from discreet.query.words import StatisticQuestion, declared, statistic_asked
from discreet.releases.declaration import declaration_of
from discreet.schema.dates import Date, Datetime
from discreet.schema.schema import Boolean, Category, Column, Number, Schema, Text
from discreet.service.console.sent_form import SentForm

ASKED = "the question"
OFFERED = {
    "count": "count of records",
    "mean": "mean",
    "total": "total",
    "median": "median",
    "quantile": "quantile",
    "minimum": "minimum",
    "maximum": "maximum",
    "variance": "variance",
    "standard_deviation": "standard deviation",
    "interquartile_range": "interquartile range",
    "histogram": "histogram",
    "contingency": "table of counts, of several columns",
    "correlation": "correlation, of several columns",
    "t_test": "t-test of the mean",
}
SIGNS = ("==", "!=", "<", "<=", ">", ">=", "is missing", "is not missing")
MOST_CONDITIONS = 3
STEPS, LEAST, PER_DECADE = 24, 0.01, 8  # of the slider: from 0.01 to 10
USUAL_STEP = 13
IN_SQL = {
    "count": "COUNT({0})",
    "mean": "AVG({0})",
    "total": "SUM({0})",
    "median": "MEDIAN({0})",
    "quantile": "QUANTILE({0}, {q})",
    "minimum": "MIN({0})",
    "maximum": "MAX({0})",
    "variance": "VAR_POP({0})",
    "standard_deviation": "STDDEV_POP({0})",
}
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
SQL_SIGNS = {"==": "=", "!=": "<>", "is missing": "IS NULL", "is not missing": "IS NOT NULL"}


def epsilon_at(step: int) -> float:
    """The price at a step of the slider: eight steps are ten times as much.

    Examples
    --------
    >>> [epsilon_at(step) for step in (0, 8, 13, 16, 24)]
    [0.01, 0.1, 0.42, 1.0, 10.0]
    """
    return float(f"{LEAST * 10 ** (min(max(step, 0), STEPS) / PER_DECADE):.2g}")


@dataclass(frozen=True)
class ChosenCondition:
    """One comparison: a column, a sign, and a value as conditions write it.

    Examples
    --------
    >>> town = ChosenCondition.of("home town", "==", "O'Hara", Text())
    >>> town.text, ChosenCondition.of("age", ">=", "65", Number(0, 110)).sql
    ("`home town` == 'O''Hara'", '"age" >= 65')
    """

    column: str
    sign: str
    value: str
    dated: bool = False

    @classmethod
    def of(cls, column: str, sign: str, value: str, kind: Column) -> ChosenCondition:
        """A comparison with what somebody wrote: a number, where the column holds numbers."""
        if isinstance(kind, Boolean) and value.lower() in ("true", "false"):
            return cls(column, sign, value.lower())
        if isinstance(kind, Number) and NUMBER.fullmatch(value):
            return cls(column, sign, value)
        return cls(column, sign, _quoted(value), isinstance(kind, Date | Datetime))

    @property
    def text(self) -> str:
        """As conditions are written."""
        named = name_of(self.column)
        return f"{named} {self.sign}" if self.sign.startswith("is") else f"{named} {self.sign} {self.value}"

    @property
    def sql(self) -> str:
        """As SQL has it."""
        named, sign = _identifier(self.column), SQL_SIGNS.get(self.sign, self.sign)
        value = f"{'DATE ' if self.dated else ''}{self.value}"
        return f"{named} {sign}" if self.sign.startswith("is") else f"{named} {sign} {value}"


@dataclass(frozen=True)
class QuestionChoice:
    """A statistic with the columns, groups, conditions and options that were chosen for it, and its price.

    Parameters
    ----------
    statistic : str
        One of those that are offered.
    columns, by : tuple of str
        What it is of, and for which groups.
    conditions : tuple of ChosenCondition
        Which records are meant: all of them hold.
    options : mapping of str to object
        What else was said, such as the level of a quantile.
    step : int
        The step of the slider, which is the price.
    delta : float
        The delta of the price.
    """

    statistic: str = "count"
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    conditions: tuple[ChosenCondition, ...] = ()
    options: Mapping[str, Any] | None = None
    step: int = USUAL_STEP
    delta: float = 0.0

    @classmethod
    def of(cls, sent: SentForm, schema: Schema) -> QuestionChoice:
        """What a form says; a statistic, a column or a sign that is not offered is refused."""
        statistic = sent.text("statistic", "count")
        if statistic not in OFFERED:
            raise ParameterError(ASKED, f"{statistic[:40]!r} is not offered here", "Choose one, or ask in words.")
        columns, by = sent.texts("column"), sent.texts("by")
        for name in (*columns, *by):
            _check_column(name, schema)
        options = {}
        if statistic == "quantile":
            options["q"] = 0.5 if sent.number("q") is None else sent.number("q")
        if statistic in ("histogram", "contingency") and sent.whole("bins") is not None:
            options["bins"] = sent.whole("bins")
        if statistic == "t_test":
            options["mean"] = 0.0 if sent.number("against") is None else sent.number("against")
        step = sent.whole("step")
        return cls(
            statistic,
            columns,
            by,
            _conditions(sent, schema),
            options,
            USUAL_STEP if step is None else min(max(step, 0), STEPS),
            sent.number("delta") or 0.0,
        )

    @property
    def epsilon(self) -> float:
        """The price."""
        return epsilon_at(self.step)

    @property
    def where(self) -> str:
        """The condition, empty where all records are meant."""
        return " and ".join(one.text for one in self.conditions)

    @property
    def said(self) -> dict[str, Any]:
        """The options of the statistic, by name, as far as they were chosen."""
        said = dict(self.options or {})
        if self.by:
            said["by"] = self.by[0] if len(self.by) == 1 else list(self.by)
        return said | ({"where": self.where} if self.where else {})

    def question(self) -> StatisticQuestion:
        """The question, once it is sure that the statistic takes it."""
        return statistic_asked(ASKED, declared()[self.statistic], self.columns, self.said)

    @property
    def title(self) -> str:
        """The question for a reader."""
        of = f" of {' and '.join(self.columns)}" if self.columns else ""
        said = "".join(f" {name}={value:g}" for name, value in (self.options or {}).items())
        by = f" by {' and '.join(self.by)}" if self.by else ""
        where = f" where {self.where}" if self.where else ""
        return f"{self.statistic.replace('_', ' ')}{of}{said}{by}{where}"

    def python(self, data: str, address: str) -> str:
        """A program that asks the same."""
        given = self.question().options
        places = declaration_of(declared()[self.statistic]).subject
        first = [repr(given.pop(places))] if places in given else []
        named = [f"{name}={value!r}" for name, value in given.items()]
        price = [f"epsilon={self.epsilon:g}", *([f"delta={self.delta:g}"] if self.delta else [])]
        asked = ", ".join([f"site[{data!r}]", *first, *named, *price])
        return (
            "import os, discreet\n\n"
            f'site = discreet.connect({address!r}, key=os.environ["DISCREET_KEY"])\n'
            f"discreet.{self.statistic}({asked})"
        )

    def sql(self, data: str) -> str | None:
        """A SELECT that asks the same; None where SQL has no word for it."""
        if self.statistic not in IN_SQL or len(self.columns) > 1 or (not self.columns and self.statistic != "count"):
            return None
        column = _identifier(self.columns[0]) if self.columns else "*"
        figure = IN_SQL[self.statistic].format(column, **(self.options or {}))
        price = f"epsilon={self.epsilon:g}" + (f", delta={self.delta:g}" if self.delta else "")
        groups = [_identifier(name) for name in self.by]
        lines = [
            f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({price})",
            f"  {', '.join([*groups, figure])}",
            f"FROM {_identifier(data)}",
        ]
        lines += [f"WHERE {' AND '.join(one.sql for one in self.conditions)}"] if self.conditions else []
        return "\n".join([*lines, *([f"GROUP BY {', '.join(groups)}"] if groups else [])])


def _conditions(sent: SentForm, schema: Schema) -> tuple[ChosenCondition, ...]:
    found = []
    for i in range(1, MOST_CONDITIONS + 1):
        column, sign = sent.text(f"if-{i}"), sent.text(f"is-{i}", "==")
        if not column:
            continue
        _check_column(column, schema)
        if sign not in SIGNS:
            raise ParameterError(ASKED, f"{sign[:20]!r} compares nothing", f"Signs are {', '.join(SIGNS)}.")
        value = sent.text(f"than-{i}")
        if not value and not sign.startswith("is"):
            raise ParameterError(ASKED, f"{column} is compared with nothing", "Write a value, or leave out the column.")
        found.append(ChosenCondition.of(column, sign, value, schema.columns[column]))
    return tuple(found)


def _check_column(name: str, schema: Schema) -> None:
    if name not in schema.columns:
        raise ParameterError(ASKED, f"there is no column {name[:80]!r}", f"There are {', '.join(schema.columns)}.")


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


def _identifier(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def groupable(schema: Schema) -> tuple[str, ...]:
    """The columns whose values are known, so that groups of them can be asked for without a delta."""
    return tuple(name for name, kind in schema.columns.items() if isinstance(kind, Category | Boolean))


def asked_of(schema: Schema) -> tuple[str, ...]:
    """The columns that a statistic can be of: all but texts."""
    return tuple(name for name, kind in schema.columns.items() if not isinstance(kind, Text))
