"""Ranges of values as texts, of which no two ranges of a column share one."""

from __future__ import annotations

import json
from collections.abc import Mapping

from discreet.core.errors import SchemaError
from discreet.core.grid import Array
from discreet.mechanisms.microdata.round_cuts import Kind, Scale
from discreet.schema.dates import Date, Temporal
from discreet.schema.schema import Category, Column, Number

LISTED = 5  # values of a set that are all named
OR_MISSING = " or missing"
APART = ',:{}"'  # letters by which a value is quoted in a set


def number_text(value: float) -> str:
    """A number in full, without needless digits.

    Examples
    --------
    >>> number_text(30.0), number_text(0.1), number_text(1e15 + 0.125), number_text(-0.0)
    ('30', '0.1', '1000000000000000.1', '0')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e17 else repr(float(value))


def scale_of(name: str, column: Column) -> Scale:
    """How the column of this name is cut."""
    if isinstance(column, Category):
        return Scale("category", 0.0, len(column.values) - 1.0)
    if not isinstance(column, Number):
        raise SchemaError(f"column {name!r}", "its values are not public", "List them, or call it identifying.")
    times: Kind = "date" if isinstance(column, Date) else "datetime"
    kind = times if isinstance(column, Temporal) else "number"
    return Scale(kind, float(column.lower), float(column.upper))


def ranged(column: Column, ranges: Array) -> Category:
    """The column of a table in which these ranges stand for its values.

    Parameters
    ----------
    column : Number or Category
        What it was.
    ranges : array of shape (ranges, 4)
        The lower bound; the upper one; whether that is inside; and whether a missing value is.

    Examples
    --------
    >>> import numpy as np
    >>> ranged(Number(0, 120, step=1), np.array([[0.0, 30.0, 0, 0], [30.0, 120.0, 1, 1]])).values
    ('[0, 30)', '[30, 120] or missing')
    >>> ranged(Category(("a", "b", "c")), np.array([[0.0, 1.0, 0, 0], [1.0, 2.0, 1, 0]])).values
    ('a', '{b, c}')
    """
    if isinstance(column, Category):
        return _sets(column, ranges)
    shown = column.shown if isinstance(column, Temporal) else number_text
    texts = {bound: shown(bound) for bound in {*ranges[:, :2].ravel().tolist()}}
    return Category([_interval(row, texts) for row in ranges.tolist()])


def _interval(row: list[float], texts: Mapping[float, str]) -> str:
    low, high, closed, missing = row
    return f"[{texts[low]}, {texts[high]}{']' if closed else ')'}{OR_MISSING if missing else ''}"


def _sets(column: Category, ranges: Array) -> Category:
    """Plain sets; quoted ones, where a value looks like a set."""
    parts = [(int(low), int(high + closed), bool(missing)) for low, high, closed, missing in ranges.tolist()]
    plain = [_set(column.values[low:high]) + OR_MISSING * missing for low, high, missing in parts]
    try:
        return Category(plain)
    except SchemaError:
        return Category([_quoted(column.values, *part) for part in parts])


def _set(values: tuple[str, ...]) -> str:
    if len(values) == 1:
        return values[0]
    shown = [json.dumps(value) if set(value) & set(APART) else value for value in values]
    if len(shown) > LISTED:
        return f"{{{shown[0]}, ..., {shown[-1]}: {len(shown)} values}}"
    return f"{{{', '.join(shown)}}}"


def _quoted(values: tuple[str, ...], low: int, high: int, missing: bool) -> str:
    """The places of the first and the last value, which no other set has, and as much of them as there is room for."""
    ends = [values[low]] if high - low == 1 else [values[low], values[high - 1]]
    return f"{low + 1} to {high}: " + " to ".join(json.dumps(end)[:80] for end in ends) + OR_MISSING * missing
