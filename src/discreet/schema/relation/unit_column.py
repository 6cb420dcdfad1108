"""A column of a table with one row for each unit: what all rows of a unit come to."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.core.checks import instead_of
from discreet.core.condition import Condition, Places, name_of
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.formula import Formula
from discreet.schema.condition_text import condition_of
from discreet.schema.expression import Expression
from discreet.schema.expression_text import expression_of
from discreet.schema.schema import Boolean, Column, Number, Schema

ASKED = "per_unit"
WAYS = 'Write such as "count", "max of stay", "any of ward == \'icu\'" or "only of sex".'
WORDS = re.compile(r"\s*(\w+)(?:\s+of\s+(.*))?\s*", re.DOTALL)
FINE, COARSE = 40, 30  # bits of the greatest magnitude of a number before it is added up: means divide by many
MEANT = {"maximum": "max", "minimum": "min", "total": "sum"}
Ends = tuple[float, float]


@dataclass(frozen=True)
class UnitColumn:
    """What the rows of a unit come to, in one number or value.

    Parameters
    ----------
    name : str
        Public. Of the new column.
    way : str
        Public. One of `BY_UNIT`: how the rows are brought together.
    of : Expression, Condition or str, optional
        Public. What of each row; a column by its name, where values are kept as they are.
    kind : Number, Category or Text
        Public. What the new column is.
    """

    name: str
    way: str
    of: Expression | Condition | str | None
    kind: Column

    @classmethod
    def read(cls, schema: Schema, name: str, text: str, bounds: Ends | None, rows: int | None) -> UnitColumn:
        """From words such as "max of stay".

        Parameters
        ----------
        schema : Schema
            Public. Of the rows.
        name, text : str
            Public. Of the new column, and what it is. Whoever wrote it may be hostile: nothing of it is run.
        bounds : (float, float), optional
            Public. Of counts and sums, which nothing else bounds; numbers outside are moved inside.
        rows : int, optional
            Public. The most rows of a unit, where the schema says it.
        """
        found = WORDS.fullmatch(text) if isinstance(text, str) else None
        word = "" if found is None else MEANT.get(found[1].lower(), found[1].lower())
        if found is None or word not in BY_UNIT:
            raise ParameterError(f"{ASKED} {text!r:.60}", f"it is none of {', '.join(BY_UNIT)}", WAYS)
        return BY_UNIT[word].read(schema, name, word, found[2], bounds, rows)

    def taken(self, places: Places) -> str:
        """What is taken of each row, in SQL."""
        return BY_UNIT[self.way].taken(self, places)

    def gathered(self, value: str) -> str:
        """What the rows of a unit come to, in SQL."""
        return BY_UNIT[self.way].gathered(self, value)

    @property
    def words(self) -> str:
        """How it would be asked for."""
        own = "" if self.of is None else f" of {name_of(self.of) if isinstance(self.of, str) else self.of}"
        return f"{self.way}{own}"


@dataclass(frozen=True)
class Gathering:
    """How rows of a unit are brought together."""

    read: Callable[[Schema, str, str, str | None, Ends | None, int | None], UnitColumn]
    taken: Callable[[UnitColumn, Places], str]
    gathered: Callable[[UnitColumn, str], str]


def _refused(name: str, obstacle: str, remedy: str) -> ParameterError:
    return ParameterError(f"{ASKED} {name!r:.60}", obstacle, remedy)


def _count(schema: Schema, name: str, way: str, of: str | None, bounds: Ends | None, rows: int | None) -> UnitColumn:
    ends = bounds if bounds is not None else (0.0, float(rows)) if rows is not None and rows > 1 else None
    if ends is None:
        remedy = f'Give bounds={{"{name}": (0, 50)}}: units that have more count as having 50.'
        raise _refused(name, "nothing says how many rows a unit may have", remedy)
    own = None if of is None else expression_of(of, schema) if _is_number(schema, of) else _known(schema, name, of)
    return UnitColumn(name, way, own, _number(name, ends, step=1.0))


def _is_number(schema: Schema, of: str) -> bool:
    """Whether it is computed with, and no plain name of a column of another kind."""
    plain = of.strip().strip("`")
    return plain not in schema.columns or isinstance(schema.columns[plain], Number | Boolean)


def _known(schema: Schema, name: str, of: str) -> str:
    plain = of.strip().strip("`")
    if plain not in schema.columns:
        raise _refused(name, f"there is no column {plain!r:.60}", instead_of(plain, schema.columns))
    return plain


def _number(name: str, ends: Ends, step: float | None = None) -> Number:
    try:
        lower, upper = (float(end) for end in ends)
        whole = step is not None and lower.is_integer() and upper.is_integer()
        number = Number(lower, upper, step if whole else None)
        number.check_scale(name)
    except (TypeError, ValueError) as why:
        raise _refused(name, f"its bounds are {ends!r:.60}", "Give two numbers.") from why
    except SchemaError as why:
        raise _refused(name, why.obstacle, why.remedy) from why
    return number


def _needed(name: str, way: str, of: str | None) -> str:
    if of is None or not of.strip():
        raise _refused(name, f"{way} of what?", f'Write such as "{way} of stay".')
    return of


def _total(schema: Schema, name: str, way: str, of: str | None, bounds: Ends | None, rows: int | None) -> UnitColumn:
    own = expression_of(_needed(name, way, of), schema)
    span = own.span
    if bounds is None and rows is not None and rows > 1:
        bounds = min(0.0, span.lower * rows), max(0.0, span.upper * rows)
    if bounds is None:
        remedy = f'Give bounds={{"{name}": (0, 1000)}}: sums outside are moved inside.'
        raise _refused(name, "nothing bounds the sum of any number of rows", remedy)
    return UnitColumn(name, way, own, _number(name, bounds))


def _within(schema: Schema, name: str, way: str, of: str | None, bounds: Ends | None, rows: int | None) -> UnitColumn:
    """The mean, the least or the greatest: where the rows are; a date stays one."""
    text = _needed(name, way, of)
    own, plain = expression_of(text, schema), text.strip().strip("`")
    kind = schema.columns.get(plain)
    if bounds is None and isinstance(kind, Number) and way != "mean":
        return UnitColumn(name, way, own, kind)
    span = own.span
    ends = bounds if bounds is not None else (span.lower, span.upper)
    if ends[0] == ends[1]:
        raise _refused(name, f"it is {ends[0]:g} for every unit", "Take something that varies.")
    return UnitColumn(name, way, own, _number(name, ends))


def _truth(schema: Schema, name: str, way: str, of: str | None, bounds: Ends | None, rows: int | None) -> UnitColumn:
    _check_no_bounds(name, bounds)
    return UnitColumn(name, way, condition_of(_needed(name, way, of), schema), Boolean())


def _one(schema: Schema, name: str, way: str, of: str | None, bounds: Ends | None, rows: int | None) -> UnitColumn:
    _check_no_bounds(name, bounds)
    own = _known(schema, name, _needed(name, way, of))
    return UnitColumn(name, way, own, schema.columns[own])


def _check_no_bounds(name: str, bounds: Ends | None) -> None:
    if bounds is not None:
        raise _refused(name, "there are bounds for what is no number that is computed", "Leave them out.")


def _expressed(column: UnitColumn, places: Places) -> str:
    assert not isinstance(column.of, str)
    assert column.of is not None
    return column.of.sql(places)


def _counted(column: UnitColumn, places: Places) -> str:
    if column.of is None:
        return "1"
    own = f"c{places[column.of]}" if isinstance(column.of, str) else column.of.sql(places)
    return f"CASE WHEN {own} IS NOT NULL THEN 1 END"


def _stepped(column: UnitColumn, places: Places) -> str:
    """A number in whole steps, so that sums of them are exact in every engine and in every order."""
    value = f"({_expressed(column, places)} * {Formula.constant(2.0 ** -_exponent(column)).sql})"
    return f"CAST(CAST(floor({value}) AS BIGINT) AS DECIMAL(38, 0))"


def _exponent(column: UnitColumn) -> int:
    """Of the step: the greatest magnitude has `FINE` or `COARSE` bits."""
    assert isinstance(column.kind, Number)
    of: Any = column.of
    most = max(of.span.most, abs(column.kind.lower), abs(column.kind.upper))
    return math.frexp(most)[1] - (FINE if column.way == "sum" else COARSE)


def _clamped(value: str, lower: int, upper: int) -> str:
    """A whole number in SQL, inside bounds; NULL where it is."""
    return f"CASE WHEN {value} < {lower} THEN {lower} WHEN {value} > {upper} THEN {upper} ELSE {value} END"


def _count_gathered(column: UnitColumn, value: str) -> str:
    return _inside(column, f"CAST(count({value}) AS DOUBLE)")


def _sum_gathered(column: UnitColumn, value: str) -> str:
    most = 2 ** (FINE + 1)
    whole = f"CAST({_clamped(f'sum({value})', -most, most)} AS DOUBLE)"
    return _inside(column, f"({whole} * {Formula.constant(2.0 ** _exponent(column)).sql})")


def _mean_gathered(column: UnitColumn, value: str) -> str:
    whole = f"CAST({_clamped(f'sum({value})', -(2**53), 2**53)} AS DOUBLE)"
    mean = f"({whole} / nullif(CAST(count({value}) AS DOUBLE), 0.0e0))"
    return _inside(column, f"({mean} * {Formula.constant(2.0 ** _exponent(column)).sql})")


def _inside(column: UnitColumn, value: str) -> str:
    assert isinstance(column.kind, Number)
    return Formula(value).moved(float(column.kind.lower), float(column.kind.upper)).sql


def _as_it_is(column: UnitColumn, places: Places) -> str:
    assert isinstance(column.of, str)
    return f"c{places[column.of]}"


def _as_truth(column: UnitColumn, places: Places) -> str:
    return f"CASE WHEN {_expressed(column, places)} THEN 1 ELSE 0 END"


BY_UNIT = {
    "count": Gathering(_count, _counted, _count_gathered),
    "sum": Gathering(_total, _stepped, _sum_gathered),
    "mean": Gathering(_within, _stepped, _mean_gathered),
    "min": Gathering(_within, _expressed, lambda column, value: _inside(column, f"min({value})")),
    "max": Gathering(_within, _expressed, lambda column, value: _inside(column, f"max({value})")),
    "any": Gathering(_truth, _as_truth, lambda column, value: f"max({value})"),
    "all": Gathering(_truth, _as_truth, lambda column, value: f"min({value})"),
    "only": Gathering(
        _one, _as_it_is, lambda column, value: f"CASE WHEN min({value}) = max({value}) THEN min({value}) END"
    ),
}
"""How the rows of a unit are brought together, by name; `only` is the value that all of them have, if they do."""
