"""From raw columns to numbers, by the schema alone: no value of any record can raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.core.schema import Category, Number, Schema


def decoded(raw: NDArray[Any], column: Number | Category) -> Array:
    """One raw column as numbers; see `Source.batches`."""
    return numbers(raw) if isinstance(column, Number) else codes(raw, column.values)


def numbers(raw: NDArray[Any]) -> Array:
    """Each value as a number, nan where it is none."""
    if raw.dtype.kind in "fiub":
        return raw.astype(np.float64)
    if raw.dtype.kind in "OUST":
        return np.fromiter((_number(value) for value in raw), dtype=np.float64, count=len(raw))
    return np.full(len(raw), np.nan)


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def texts(raw: NDArray[Any]) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    """Each value as text without outer blanks, and whether there is any."""
    missing = np.zeros(len(raw), dtype=bool)
    if raw.dtype.kind == "O":
        missing = np.fromiter((value is None or value != value for value in raw), dtype=bool, count=len(raw))
    elif raw.dtype.kind == "f":
        missing = np.isnan(raw)
    text = np.char.strip(raw.astype(str))
    return text, ~missing & (text != "")


def codes(raw: NDArray[Any], values: Sequence[str]) -> Array:
    """The place of each value in a list, nan where it is not in it."""
    text, there = texts(raw)
    order = np.argsort(values)
    ranked = np.asarray(values)[order]
    place = np.minimum(np.searchsorted(ranked, text), len(ranked) - 1)
    return np.where(there & (ranked[place] == text), order[place], np.nan)


def bounded(matrix: Array, columns: Sequence[str], schema: Schema) -> Array:
    """Numbers moved inside their bounds; what is not finite becomes nan."""
    kinds = [schema.columns[name] for name in columns]
    lower = np.array([kind.lower if isinstance(kind, Number) else -np.inf for kind in kinds])
    upper = np.array([kind.upper if isinstance(kind, Number) else np.inf for kind in kinds])
    return np.clip(np.where(np.isfinite(matrix), matrix, np.nan), lower, upper)
