"""Rows that nobody has, to see what a model does before it is shown private ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.schema.schema import Category, Number, Schema

ROWS = 16


def rows_of_schema(schema: Schema, features: Sequence[str]) -> Array:
    """Decoded rows between the bounds, or in the list, of each column; the first two are at its ends.

    Examples
    --------
    >>> rows_of_schema(Schema({"x": Number(5, 9)}), ["x"])[:2, 0]
    array([5., 9.])
    """
    shares = _scattered(len(features))
    shares[0], shares[1] = 0.0, 1.0
    columns = [_between(schema.columns[name], shares[:, place]) for place, name in enumerate(features)]
    return np.column_stack(columns) if columns else shares


def _scattered(columns: int) -> Array:
    """Numbers in [0, 1) without any order, always the same: the last digits of sines."""
    rows, places = np.ogrid[1 : ROWS + 1, 1 : columns + 1]
    return np.modf(43758.5453 * np.abs(np.sin(12.9898 * rows + 78.233 * places)))[0]


def _between(kind: Any, shares: Array) -> Array:
    if isinstance(kind, Number):
        return kind.lower + shares * (kind.upper - kind.lower)
    last = len(kind.values) - 1 if isinstance(kind, Category) else 0
    return np.rint(shares * last)


def rows_like(rows: Any) -> Any:
    """Rows of the shape and the types of others, none of whose values is looked at; None where that cannot be done.

    Examples
    --------
    >>> rows_like(np.full((1000, 3), 77.0)).shape
    (16, 3)
    """
    if hasattr(rows, "iloc"):
        columns = [_typed(place, dtype) for place, dtype in enumerate(rows.dtypes)]
        frame = type(rows)(dict(enumerate(columns)))
        return frame.set_axis(rows.columns, axis=1)
    if not isinstance(rows, np.ndarray) or rows.ndim != 2 or not rows.shape[1]:
        return None
    return np.column_stack([_typed(place, rows.dtype) for place in range(rows.shape[1])])


def _typed(place: int, dtype: Any) -> NDArray[Any]:
    """Numbers of very different sizes, as this type where it has them."""
    first, second = _scattered(2 * place + 2)[:, 2 * place :].T
    numbers = (2 * first - 1) * 10 ** (4 * second - 2)
    kind = getattr(dtype, "kind", "O")
    if kind == "b":
        return numbers > 0
    return np.abs(numbers).round().astype(np.int64) if kind in "iu" else numbers


def tries(rows: Any) -> list[Any]:
    """Made-up rows, and the same with a missing value in each, where they are numbers; nothing, where there are none.

    Examples
    --------
    >>> [np.isnan(each).any(axis=1).all().item() for each in tries(np.ones((3, 2)))]
    [False, True]
    """
    if rows is None:
        return []
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "fO" or not rows.shape[1]:
        return [rows]
    gaps = rows.copy()
    gaps[np.arange(len(rows)), np.arange(len(rows)) % rows.shape[1]] = np.nan if rows.dtype.kind == "f" else None
    return [rows, gaps]
