"""From raw columns to numbers and texts, by the schema alone: no value of any record can raise, nor change another.

`schema.value` says what a value is, whatever stores it. Texts are read as numbers where the schema has numbers,
from every source: a file of texts and a table that was made from it by guessing its types (in which one odd record
turns numbers into texts) give the same. So it is for dates and times, where the schema has them. A column of dates,
times or durations never holds numbers; its type shows that, and it is refused when the source is opened.

What is lost before records come here cannot be brought back: `pandas.read_csv` and DuckDB's guesses make 7 of "007" and
round whole numbers beyond 2**53 where a field of the column is blank. Read such keys as text, or give the path. What
identifies units is therefore compared as the number that its digits stand for: see `schema.value.name_of`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import SchemaError
from discreet.core.grid import Array
from discreet.schema.dates import Temporal, seconds_of
from discreet.schema.schema import Category, Column, Number, Schema, Text
from discreet.schema.value import form_of, instants, number_of, text_of

WHOLE = 2**53
"""From here on not every whole number is a float."""

AT_HAND = 2**17  # numbers that are worked on together, so that they stay in the cache


def objects(values: Collection[Any]) -> NDArray[Any]:
    """Values one by one, whatever they are."""
    return np.fromiter(values, dtype=object, count=len(values))


def unmasked(values: NDArray[Any]) -> NDArray[Any]:
    """The array without a mask: what it hides is missing."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if values.dtype.kind == "M":
        return np.ma.filled(values, np.datetime64("NaT"))
    return np.ma.filled(values.astype(object), None)


def numbers(raw: NDArray[Any]) -> Array:
    """Each value as a number, nan where it is none."""
    with np.errstate(all="ignore"):
        if raw.dtype.kind in "fiub":
            return raw.astype(np.float64, copy=False)
        return np.fromiter(map(number_of, raw.tolist()), dtype=np.float64, count=len(raw))


def texts(raw: NDArray[Any]) -> list[str | None]:
    """Each value as text without outer blanks, None where there is none."""
    match raw.dtype.kind:
        case "i" | "u":
            found: list[str | None] = raw.astype(str).tolist()
            return found
        case "f":
            return _float_texts(raw)
        case "M":
            return [None if text == "NaT" else text for text in instants(raw).tolist()]
        case _:
            return [text_of(value) for value in raw.tolist()]


def _float_texts(raw: NDArray[Any]) -> list[str | None]:
    with np.errstate(all="ignore"):
        whole = (np.trunc(raw) == raw) & (np.abs(raw) < WHOLE)
        found = np.empty(len(raw), dtype=object)
        found[whole] = raw[whole].astype(np.int64).astype(str)
        found[~whole] = [text_of(value) for value in raw[~whole]]
        return list(found)


def codes(raw: NDArray[Any], column: Category) -> Array:
    """The place of each value in a list, nan where it is not in it."""
    if raw.dtype.kind in "fiu":
        return _number_codes(written(raw), column)
    places = column.places

    def place(text: str | None) -> float:
        if text is None:
            return np.nan
        found = places.get(text)
        return places.get(form_of(text), np.nan) if found is None else found

    return np.fromiter(map(place, texts(raw)), dtype=np.float64, count=len(raw))


def written(raw: NDArray[Any]) -> Array:
    """Numbers as what is written for them: a short float is the number with its digits, which a float has too."""
    shorter = raw.dtype.kind == "f" and raw.dtype.itemsize < 8
    return (raw.astype(str) if shorter else raw).astype(np.float64)


def _number_codes(values: Array, column: Category) -> Array:
    forms = sorted((form, place) for form, place in column.places.items() if isinstance(form, float))
    if not forms:
        return np.full(len(values), np.nan)
    listed, places = np.array(forms).T
    nearest = np.minimum(np.searchsorted(listed, values), len(listed) - 1)
    return np.where(listed[nearest] == values, places[nearest], np.nan)


def decoded(raw: NDArray[Any], column: Number | Category) -> Array:
    """One raw column as numbers; see `Batched.batches`."""
    match column:
        case Temporal():
            return times(raw, column)
        case Number():
            return numbers(raw)
        case _:
            return codes(raw, column)


def times(raw: NDArray[Any], column: Temporal) -> Array:
    """Each value as the number that stands for its time, nan where it is none."""
    if raw.dtype.kind == "M":
        return column.counts(raw)
    return np.fromiter((column.count(seconds_of(text)) for text in texts(raw)), dtype=np.float64, count=len(raw))


def known(schema: Schema, name: str) -> Number | Category:
    """The column of this name, whose values are public."""
    column: Column = schema.columns[name]
    if isinstance(column, Text):
        raise SchemaError(f"column {name!r}", "its values are not public", "Use private key selection.")
    return column


def bounded(matrix: Array, columns: Sequence[str], schema: Schema) -> Array:
    """Numbers moved inside their bounds, rows contiguous; what is not finite becomes nan, minus zero zero.

    The same work whatever the values: x - x + x is nan where x is not finite, and never minus zero. Few are moved at a
    time, so that they stay in the cache.
    """
    kinds = [schema.columns[name] for name in columns]
    lower = np.array([kind.lower if isinstance(kind, Number) else -np.inf for kind in kinds]) + 0.0
    upper = np.array([kind.upper if isinstance(kind, Number) else np.inf for kind in kinds]) + 0.0
    alike = (lower == lower[:1]).all() and (upper == upper[:1]).all() and len(kinds) > 0
    ends = (lower[0], upper[0]) if alike else (lower, upper)
    out, at_hand = np.empty(matrix.shape), max(1, AT_HAND // max(1, len(kinds)))
    with np.errstate(invalid="ignore"):
        for start in range(0, len(out), at_hand):
            rows, inside = matrix[start : start + at_hand], out[start : start + at_hand]
            np.subtract(rows, rows, out=inside)
            inside += rows
            np.clip(inside, *ends, out=inside)
    return out
