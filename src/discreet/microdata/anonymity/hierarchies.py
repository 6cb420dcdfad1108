"""Hierarchies as users give them, checked before anything is charged, and the names of what they make of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from discreet.core.checks import is_number, shown
from discreet.core.errors import SchemaError
from discreet.core.grid import Array
from discreet.mechanisms.microdata.generalization_levels import (
    DAYS,
    CalendarLevels,
    IntervalLevels,
    ListedLevels,
    Period,
)
from discreet.microdata.anonymity.range_texts import number_text
from discreet.schema.dates import Date, Temporal
from discreet.schema.schema import Category, Column, Number
from discreet.schema.value import form_of, text_of

ANYTHING = "*"
FINEST = 1e-14  # a width over the greatest bound: its multiples have texts that differ


@dataclass(frozen=True)
class Hierarchy:
    """How a column is made coarser.

    Parameters
    ----------
    column : Number or Category
        Public. What is known of it.
    levels : IntervalLevels, CalendarLevels or ListedLevels
        Public. What its values become.

    Examples
    --------
    >>> work = Hierarchy.of("work", Category(("clerk", "smith", "none")), [{"yes": ["clerk", "smith"], "no": ["none"]}])
    >>> work.named(1, np.array([0.0, 1.0])).values, work.levels.losses
    (('yes', 'no'), (0.0, 0.3333333333333333, 1.0))
    """

    column: Number | Category
    levels: IntervalLevels | CalendarLevels | ListedLevels

    @classmethod
    def of(cls, name: str, column: Column, given: Any = ()) -> Hierarchy:
        """Of the column of this name: widths of a number, periods of a date, groups of a category."""
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise _refused(name, f"it is {shown(given)}", "Give a list of levels, from fine to coarse.")
        if isinstance(column, Temporal):
            periods = _periods(name, column, given)
            return cls(column, CalendarLevels(float(column.lower), float(column.upper), column.seconds, periods))
        if isinstance(column, Number):
            return cls(column, IntervalLevels(float(column.lower), float(column.upper), _widths(name, column, given)))
        if isinstance(column, Category):
            return _listed(name, column, given)
        raise SchemaError(f"column {name!r}", "its values are not public", "List them, or call it identifying.")

    def named(self, level: int, coarse: Array) -> Column:
        """What the column is on a level, of which these values were released."""
        if level == 0:
            return self.column
        if level == len(self.levels.losses) - 1 or not len(coarse):
            return Category((ANYTHING,))
        return Category([self._text(level - 1, value) for value in coarse.tolist()])

    def _text(self, place: int, value: float) -> str:
        if isinstance(self.levels, IntervalLevels):
            width = self.levels.widths[place]
            ends = (float(f"{end * width:.15g}") for end in (value, value + 1))
            return "[{}, {})".format(*map(number_text, ends))
        if isinstance(self.levels, CalendarLevels):
            return period_text(self.levels.periods[place], int(value))
        return self.levels.names[place][int(value)]


def period_text(period: Period, value: int) -> str:
    """A period of the calendar, counted from 1970; a decade from the year 0.

    Examples
    --------
    >>> period_text("month", 605), period_text("quarter", 201), period_text("year", 50), period_text("decade", 202)
    ('2020-06', '2020-Q2', '2020', '2020s')
    """
    if period == "decade":
        return f"{value * 10}s"
    if period == "quarter":
        return f"{1970 + value // 4}-Q{value % 4 + 1}"
    unit = {"hour": "h", "day": "D", "month": "M", "year": "Y"}[period]
    return str(np.int64(value).astype(f"M8[{unit}]")) + (":00" if period == "hour" else "")


def _refused(name: str, obstacle: str, remedy: str) -> SchemaError:
    return SchemaError(f"hierarchy of {name!r}", obstacle, remedy, column=name)


def _widths(name: str, column: Number, given: Sequence[Any]) -> tuple[float, ...]:
    remedy = "Give widths of intervals from narrow to wide, each a multiple of the one before: (5, 10, 20)."
    if not all(is_number(width) and 0 < width < np.inf for width in given):
        raise _refused(name, "a width is no positive number", remedy)
    widths = tuple(float(width) for width in given)
    for narrow, wide in pairwise(widths):
        if not round(wide / narrow) > 1 or abs(wide / narrow - round(wide / narrow)) > 1e-9:
            raise _refused(name, f"{wide:g} is no multiple of {narrow:g}", remedy)
    if widths and widths[0] < FINEST * max(abs(column.lower), abs(column.upper)):
        raise _refused(name, f"{widths[0]:g} is too narrow for its bounds", "Give wider intervals.")
    return widths


def _periods(name: str, column: Temporal, given: Sequence[Any]) -> tuple[Period, ...]:
    known = [period for period in get_args(Period) if not isinstance(column, Date) or DAYS[period] > 1]
    places = [known.index(period) if period in known else -1 for period in given]
    if -1 in places or sorted(set(places)) != places:
        raise _refused(
            name, f"its periods are {shown(list(given))}", f"Give some of {', '.join(known)}, in this order."
        )
    return tuple(known[place] for place in places)


def _listed(name: str, column: Category, given: Sequence[Any]) -> Hierarchy:
    groups, names = list[tuple[int, ...]](), list[tuple[str, ...]]()
    for level in given:
        if not isinstance(level, Mapping) or not level:
            raise _refused(name, f"a level is {shown(level)}", 'Give the values of each group: {"any": ["a", "b"]}.')
        names.append(Category(level).values)
        groups.append(_grouped(name, column, level))
        if len(groups) > 1 and len(set(zip(*groups[-2:], strict=True))) != len(set(groups[-2])):
            obstacle = "a group is not inside one of the next level"
            raise _refused(name, obstacle, "Make each group of a level of whole groups of the level before.")
    return Hierarchy(column, ListedLevels(len(column.values), tuple(groups), tuple(names)))


def _grouped(name: str, column: Category, level: Mapping[Any, Any]) -> tuple[int, ...]:
    """The group of each listed value."""
    found: dict[int, int] = {}
    for group, (title, values) in enumerate(level.items()):
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise _refused(name, f"the group {shown(title)} is no list", 'Give lists of values: {"any": ["a", "b"]}.')
        for value in values:
            place = column.places.get(form_of(str(text_of(value))), column.places.get(str(text_of(value))))
            if place is None or place in found:
                why = "is not listed in the schema" if place is None else "is in two groups"
                raise _refused(name, f"{shown(value)!r} {why}", "Put each listed value into one group of a level.")
            found[place] = group
    for place, value in enumerate(column.values):
        if place not in found:
            raise _refused(name, f"it leaves out {value!r:.40}", "Put each listed value into one group of a level.")
    return tuple(found[place] for place in range(len(column.values)))
