"""One pandas column as numbers or texts: the same ones that `decoding` reads from arrays, and nothing lost on the way.

A missing value in it must not turn its neighbours into floats: nullable columns, those of Arrow and categories are
taken apart by what they are, never by what `to_numpy` would make of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources.columns import arrow_column, decoding
from discreet.trust.sources.header import not_single, wants_numbers, without_numbers

Column = Any
"""A pandas.Series or a pandas.Index."""


def check_type(asked: str, name: str, dtype: Any, schema: Schema) -> None:
    """Refuse a column, or an array, that cannot hold what the schema says, by its type alone."""
    if hasattr(dtype, "pyarrow_dtype"):
        arrow_column.check_types(asked, {name: dtype.pyarrow_dtype}, schema)
    elif hasattr(dtype, "categories"):
        check_type(asked, name, dtype.categories.dtype, schema)
    elif dtype.kind in "mcV" or dtype.name.startswith(("period", "interval")):
        raise not_single(asked, name, dtype)
    elif dtype.kind == "M" and wants_numbers(schema.columns.get(name)):
        raise without_numbers(asked, name, dtype)


def decoded(column: Column, kind: Number | Category) -> Array:
    """One column as numbers; see `Batched.batches`."""
    if isinstance(column.dtype, np.dtype):
        return decoding.decoded(column.to_numpy(), kind)
    if _is_categorical(column):
        return np.append(decoded(column.cat.categories, kind), np.nan)[column.cat.codes]
    if column.dtype.kind in "fiu":
        return decoding.decoded(_with_nan(column), kind)
    return decoding.decoded(column.to_numpy(dtype=object), kind)


def texts(column: Column) -> list[str | None]:
    """Each value as text without outer blanks, None where there is none."""
    if not _is_categorical(column):
        return decoding.texts(_array(column))
    listed = [*texts(column.cat.categories), None]
    return [listed[code] for code in column.cat.codes.tolist()]


def _array(column: Column) -> NDArray[Any]:
    found: NDArray[Any] = column.to_numpy(dtype=object) if _is_extension(column) else column.to_numpy()
    return found


def _with_nan(column: Column) -> NDArray[Any]:
    """Numbers that may be missing as floats: of as many bits where they are floats, else of 64."""
    size = getattr(column.dtype, "itemsize", 8) if column.dtype.kind == "f" else 8
    found: NDArray[Any] = column.to_numpy(dtype=f"f{size}", na_value=np.nan)
    return found


def _is_extension(column: Column) -> bool:
    return not isinstance(column.dtype, np.dtype)


def _is_categorical(column: Column) -> bool:
    return hasattr(column.dtype, "categories")
