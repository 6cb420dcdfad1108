"""From raw columns to numbers and texts, by the schema alone: no value of any record can raise.

A number is what Python's `float` makes of it, and of ASCII text that holds one. A text is what stands between outer
blanks; empty text is missing. Other values have one text each, the same from every source: a
boolean is `true` or `false`, a whole number its digits, a float its shortest form (`1.0`), a decimal its digits without
exponent, a date `2020-12-31` and an instant `2020-12-31T23:59:59.000000` in UTC.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import SchemaError
from discreet.core.grid import Array
from discreet.core.schema import Category, Column, Number, Schema, Text

BLANKS = " \t\n\v\f\r"


def numbers(raw: NDArray[Any]) -> Array:
    """Each value as a number, nan where it is none."""
    if raw.dtype.kind in "fiub":
        return raw.astype(np.float64)
    if raw.dtype.kind in "OUST":
        return np.fromiter((_number(value) for value in raw.tolist()), dtype=np.float64, count=len(raw))
    return np.full(len(raw), np.nan)


def _number(value: Any) -> float:
    try:
        return float(value) if not isinstance(value, str) or value.isascii() else float("nan")
    except (TypeError, ValueError, ArithmeticError):
        return float("nan")


def texts(raw: NDArray[Any]) -> list[str | None]:
    """Each value as text without outer blanks, None where there is none."""
    match raw.dtype.kind:
        case "O" | "U" | "S" | "T":
            return [_text(value) for value in raw.tolist()]
        case "b":
            return ["true" if value else "false" for value in raw.tolist()]
        case "f":
            missing = np.isnan(raw)
        case "M" | "m":
            missing = np.isnat(raw)
            raw = raw.astype("M8[us]") if raw.dtype.kind == "M" and raw.dtype != np.dtype("M8[D]") else raw
        case _:
            missing = np.zeros(len(raw), dtype=bool)
    return [None if gone else text for gone, text in zip(missing, raw.astype(str).tolist(), strict=True)]


def _text(value: Any) -> str | None:
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if not isinstance(value, str):
        value = "" if _missing(value) else _written(value)
    if not value.isascii():
        value = value.encode(errors="replace").decode()  # half a surrogate pair is no text
    return value.strip(BLANKS) or None


def _missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError, ArithmeticError):
        return True  # pandas.NA, a signalling nan, an array


def _written(value: Any) -> str:
    try:
        match value:
            case bool() | np.bool_():
                return "true" if value else "false"
            case Decimal():
                return format(value, "f")
            case datetime.datetime():
                instant = value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta())
                return instant.isoformat(timespec="microseconds")
            case _:
                return str(value)
    except (ValueError, ArithmeticError):
        return ""  # too long, or before the first year


def listed(values: Sequence[str]) -> dict[str, int]:
    """The place of each public value, without outer blanks."""
    places: dict[str, int] = {}
    for place, value in enumerate(values):
        places.setdefault(value.strip(BLANKS), place)
    return places


def codes(raw: Iterable[str | None], values: Sequence[str]) -> Array:
    """The place of each text in a list, nan where it is not in it."""
    places: dict[str | None, float] = dict(listed(values).items())
    return np.array([places.get(text, np.nan) for text in raw], dtype=np.float64)


def decoded(raw: NDArray[Any], column: Number | Category) -> Array:
    """One raw column as numbers; see `Batched.batches`."""
    return numbers(raw) if isinstance(column, Number) else codes(texts(raw), column.values)


def known(schema: Schema, name: str) -> Number | Category:
    """The column of this name, whose values are public."""
    column: Column = schema.columns[name]
    if isinstance(column, Text):
        raise SchemaError(f"column {name!r}", "its values are not public", "Use private key selection.")
    return column


def bounded(matrix: Array, columns: Sequence[str], schema: Schema, out: Array | None = None) -> Array:
    """Numbers moved inside their bounds, rows contiguous; what is not finite becomes nan, minus zero zero."""
    kinds = [schema.columns[name] for name in columns]
    lower = np.array([kind.lower if isinstance(kind, Number) else -np.inf for kind in kinds])
    upper = np.array([kind.upper if isinstance(kind, Number) else np.inf for kind in kinds])
    finite = np.isfinite(matrix)
    given = matrix if finite.all() else np.where(finite, matrix, np.nan)
    ends = (lower[0], upper[0]) if len(kinds) == 1 else (lower, upper)
    inside = np.clip(given, *ends, out=np.empty(matrix.shape) if out is None else out)
    return np.add(inside, 0.0, out=inside)
