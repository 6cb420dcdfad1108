"""Which values a coarser one stands for: intervals, sets, and anything."""

from __future__ import annotations

import json
import re

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.table_columns import Values, read_column

ANYTHING = "*"
INTERVAL = re.compile(r"\[(.+), (.+)([\])])( or missing)?")
PARTS = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*)(?:,|$)')


def covered(released: Values, known: Values) -> NDArray[np.bool_]:
    """Whether each released value (rows) can stand for each known one (columns); a missing one can for any.

    Texts of `discreet.microdata.anonymize` are read: "[30, 40)", "{a, b}", "*". A set whose values are not all listed
    stands for any.

    Examples
    --------
    >>> ages, towns = np.array([35.0, 40.0]), np.array(["a", "c"], dtype=object)
    >>> covered(np.array(["[30, 40)", "40"], dtype=object), ages).tolist()
    [[True, False], [False, True]]
    >>> covered(np.array(["{a, b}", "c", "*"], dtype=object), towns).tolist()
    [[True, False], [False, True], [True, True]]
    """
    if released.dtype.kind == "f":
        own = known if known.dtype.kind == "f" else np.full(len(known), np.nan)
        return np.isnan(released)[:, None] | np.isnan(own) | (released[:, None] == own)
    distinct, places = np.unique([ANYTHING if text is None else text for text in released], return_inverse=True)
    missing = np.isnan(known) if known.dtype.kind == "f" else np.array([value is None for value in known])
    return np.array([_stands_for(str(text), known) for text in distinct])[places] | missing


def _stands_for(text: str, known: Values) -> NDArray[np.bool_]:
    if text == ANYTHING:
        return np.ones(len(known), dtype=np.bool_)
    if known.dtype.kind == "f":
        return _among_numbers(text, known)
    plain = np.asarray(known == text.removesuffix(" or missing"), dtype=np.bool_)
    if text.startswith("{") and "}" in text:
        inside = text[1 : text.rindex("}")]
        if ", ..., " in inside:
            return np.ones(len(known), dtype=np.bool_)
        parts = [part.strip() for part in PARTS.findall(inside) if part.strip()]
        values = [json.loads(part) if part.startswith('"') else part for part in parts]
        return plain | np.array([value in values for value in known], dtype=np.bool_)
    return plain


def _among_numbers(text: str, known: Values) -> NDArray[np.bool_]:
    found = INTERVAL.fullmatch(text)
    if found is None:
        return np.asarray(known == _number(text), dtype=np.bool_)
    low, high = _number(found[1]), _number(found[2])
    return (known >= low) & ((known <= high) if found[3] == "]" else (known < high))


def _number(text: str) -> float:
    """A number, or a time as seconds; nan, which nothing is equal to, for another text."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float(read_column(np.array([text], dtype="M8[us]"))[0])
    except ValueError:
        return np.nan
