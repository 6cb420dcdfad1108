"""The columns of a table that is given away: those that are changed, and those that are not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from discreet.core.checks import check_positive, is_number, names_of, shown
from discreet.core.errors import ParameterError, SchemaError
from discreet.microdata.published_table import PublishedTable
from discreet.schema.dates import Temporal
from discreet.schema.schema import Column, Number, Schema
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class GivenColumns:
    """What is given away of a data set; checked.

    Parameters
    ----------
    schema : Schema
        Of the data.
    changed, unchanged : tuple of str
        The columns that a method changes, and those that it gives away as they are.
    """

    schema: Schema
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]

    @classmethod
    def of(cls, data: PrivateData, columns: Sequence[str], unchanged: Sequence[str] = ()) -> GivenColumns:
        """Each column once, none of them text."""
        changed, kept = names_of(columns), names_of(unchanged)
        data.schema.values((*changed, *kept) if changed else ())
        return cls(data.schema, changed, kept)

    @property
    def names(self) -> tuple[str, ...]:
        """In the order of the table: those that are changed come first."""
        return (*self.changed, *self.unchanged)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Those that are changed, all of them numbers."""
        return self.schema.numbers(self.changed)

    def described(self, changed: Mapping[str, Column]) -> Schema:
        """The schema of the table, for these descriptions of what was changed."""
        return Schema({**changed, **{name: self.schema.columns[name] for name in self.unchanged}})


def number_each(
    asked: str, name: str, value: float | Mapping[str, float], columns: Sequence[str], least: float, most: float
) -> tuple[float, ...]:
    """A number in this range for each column, from one for all or one by name.

    Examples
    --------
    >>> number_each("noise", "stddev", {"age": 2.0, "height": 0.1}, ("height", "age"), 0.0, 10.0)
    (0.1, 2.0)
    """
    if not isinstance(value, Mapping):
        check_positive(asked, name, value, least, most)
        return (float(value),) * len(columns)
    if set(value) != set(columns):
        remedy = f"Give one for each of {', '.join(columns)}."
        raise ParameterError(asked, f"{name} is for {', '.join(map(shown, value))}", remedy, parameter=name)
    for column in columns:
        check_positive(asked, f"{name} of {column}", value[column], least, most)
    return tuple(float(value[column]) for column in columns)


def check_share(asked: str, name: str, value: float) -> None:
    """Refuse what is no number from 0 to 1."""
    if not (is_number(value) and 0 <= value <= 1):
        raise ParameterError(
            asked, f"{name} is {shown(value)}", "Give a number from 0 to 1.", parameter=name, value=value
        )


def check_plain(asked: str, name: str, column: Number) -> None:
    """Refuse a column of times, of which products have no meaning."""
    if isinstance(column, Temporal):
        remedy = "Leave it out, give it as unchanged, or use add_noise."
        raise SchemaError(asked, f"column {name!r} has times, which cannot be multiplied", remedy)


def widened(column: Number, reach: float) -> Number:
    """A number whose values may be so much farther out; its steps stay.

    Examples
    --------
    >>> widened(Number(0, 100, step=1), 2.5), widened(Number(0.0, 1.0), 0.5)
    (Number(lower=-3, upper=103, step=1), Number(lower=-0.5, upper=1.5))
    """
    if column.step is None:
        return Number(column.lower - reach, column.upper + reach)
    reach = math.ceil(reach / column.step) * column.step
    lower, upper = column.lower - reach, column.upper + reach
    if not isinstance(column, Temporal):
        return Number(lower, upper, column.step)
    wider = type(column)(column.shown(lower), column.shown(upper))
    if (wider.lower, wider.upper) != (lower, upper):
        remedy = "Give less noise, or bounds that leave it room."
        raise SchemaError("noise on times", "it would leave the years from 1 to 9999", remedy)
    return wider


def steps_of(columns: Sequence[Number]) -> tuple[float, ...]:
    """The step of each number, 0 where it has none."""
    return tuple(0.0 if column.step is None else float(column.step) for column in columns)


def table_parts(table: PublishedTable) -> dict[str, Any]:
    """The fields of a table, for one of its own kind that has more."""
    return {one.name: getattr(table, one.name) for one in fields(PublishedTable)}
