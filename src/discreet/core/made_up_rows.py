"""Rows that nobody has, to see what a model does before it is shown private ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.core.schema import Category, Number, Schema

ROWS = 16


def rows_of_schema(schema: Schema, features: Sequence[str]) -> Array:
    """Decoded rows between the bounds, or in the list, of each column; the first two are at its ends.

    Examples
    --------
    >>> rows_of_schema(Schema({"x": Number(5, 9)}), ["x"])[:2, 0]
    array([5., 9.])
    """
    shares = np.random.default_rng(0).uniform(0, 1, (ROWS, len(features)))
    shares[0], shares[1] = 0.0, 1.0
    columns = [_between(schema.columns[name], shares[:, place]) for place, name in enumerate(features)]
    return np.column_stack(columns) if columns else shares


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
    rng = np.random.default_rng(0)
    if hasattr(rows, "iloc"):
        columns = [_typed(rng, dtype) for dtype in rows.dtypes]
        frame = type(rows)(dict(enumerate(columns)))
        return frame.set_axis(rows.columns, axis=1)
    if not isinstance(rows, np.ndarray) or rows.ndim != 2:
        return None
    return np.column_stack([_typed(rng, rows.dtype) for _ in range(rows.shape[1])])


def _typed(rng: np.random.Generator, dtype: Any) -> NDArray[Any]:
    """Numbers of very different sizes, as this type where it has them."""
    numbers = rng.standard_normal(ROWS) * 10 ** rng.uniform(-2, 2, ROWS)
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
