"""Schemas from plain Python: what stands for each kind of column."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from numbers import Real
from typing import Any

from discreet.core.checks import shown
from discreet.core.errors import SchemaError
from discreet.schema.dates import Date, Datetime
from discreet.schema.schema import Boolean, Category, Column, Number, Schema, Text

WAYS = (
    "Give (lower, upper) for numbers or dates, range(lower, upper + 1) for whole numbers, a list of values for a "
    "category, bool for truth values, str for text, or a column such as Number(0, 120)."
)
PlainSchema = Schema | Mapping[str, Any]
"""A schema, or what `schema_of` makes one of."""


def schema_of(given: PlainSchema) -> Schema:
    """A schema as it is, or the one that a mapping describes.

    Parameters
    ----------
    given : Schema, or mapping of str to columns
        Public. A column is a `Number`, `Category` or the like; or a pair of numbers, dates or datetimes, which are
        bounds; a range, which is whole numbers; a list of values; `bool`; or `str`, for values that are not public.

    Examples
    --------
    >>> schema = schema_of({"age": (18, 100), "sex": ["f", "m"], "children": range(11), "smoker": bool, "town": str})
    >>> for name, column in schema.columns.items():
    ...     print(name, column)
    age Number(lower=18, upper=100)
    sex Category(values=('f', 'm'))
    children Number(lower=0, upper=10, step=1)
    smoker Boolean()
    town Text()
    """
    if isinstance(given, Schema):
        return given
    if not isinstance(given, Mapping):
        raise SchemaError("schema", f"it is {shown(given)}", "Give a Schema, or a mapping of names to columns.")
    return Schema({name: _column(name, plain) for name, plain in given.items()})


def _column(name: str, plain: Any) -> Column:
    try:
        found = _described(plain)
    except SchemaError as why:
        raise SchemaError(f"column {name!r}", why.obstacle, why.remedy, **why.values) from why
    if found is None:
        raise SchemaError(f"column {name!r}", f"{shown(plain)} describes no column", WAYS)
    return found


def _described(plain: Any) -> Column | None:
    match plain:
        case Number() | Category() | Text():
            return plain
        case range() if len(plain) > 1 and plain.step > 0:
            return Number(plain[0], plain[-1], plain.step)
        case tuple((datetime.datetime() as lower, datetime.datetime() as upper)):
            return Datetime(lower, upper)
        case tuple((datetime.date() as lower, datetime.date() as upper)):
            return Date(lower, upper)
        case tuple((Real() as lower, Real() as upper)):
            return Number(lower, upper)  # type: ignore[arg-type]
        case list() if plain and all(isinstance(value, str | bool | int | float) for value in plain):
            return Category(plain)
        case tuple() if plain and all(isinstance(value, str) for value in plain):
            return Category(plain)
        case type() if plain is bool:
            return Boolean()
        case type() if plain is str:
            return Text()
        case _:
            return None
