"""One Arrow column as numbers or texts: the same ones that `decoding` reads from arrays, without a Python loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from discreet.core.errors import MissingExtra
from discreet.core.grid import Array
from discreet.core.schema import Category, Number, Schema, Text
from discreet.trust.sources import decoding
from discreet.trust.sources.header import not_single

Column = Any
"""A pyarrow.Array."""


def arrow() -> Any:
    """PyArrow with its kernels."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.types
    except ImportError as why:
        raise MissingExtra(
            "read Arrow data", "PyArrow is not installed", "Run: pip install 'discreet[frames]'."
        ) from why
    return pyarrow


def check_types(asked: str, types: Mapping[str, Any]) -> None:
    """Refuse columns that hold no single values, by their type alone."""
    is_a = arrow().types
    for name, kind in types.items():
        values = _values(kind)
        if is_a.is_nested(values) or is_a.is_interval(values):
            raise not_single(asked, name, kind)


def numbers(column: Column) -> Array:
    """Each value as a number, nan where it is none."""
    pa, column = arrow(), plain(column)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return floats(column)
    if pa.types.is_decimal128(column.type):
        return _decimals(column)
    if pa.types.is_temporal(column.type):
        return np.full(len(column), np.nan)
    return decoding.numbers(_objects(_valid(column) if _is_text(column.type) else column))


def texts(column: Column) -> Column:
    """Each value as text without outer blanks, null where there is none."""
    pa, column = arrow(), plain(column)
    if pa.types.is_integer(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_boolean(column.type):
        return pa.compute.if_else(column, *(pa.scalar(word, pa.large_string()) for word in ("true", "false")))
    if not _is_text(column.type):
        raw = column.to_numpy(zero_copy_only=False) if _is_plain(column.type) else _objects(column)
        return pa.array(decoding.texts(raw), pa.large_string())
    trimmed = pa.compute.ascii_trim_whitespace(_valid(column))
    return pa.compute.if_else(pa.compute.equal(trimmed, ""), pa.scalar(None, pa.large_string()), trimmed)


def places(column: Column, values: Sequence[str]) -> Column:
    """The place of each value in a list, null where it is not in it."""
    pa, listed = arrow(), decoding.listed(values)
    found = pa.compute.index_in(texts(column), pa.array(list(listed), pa.large_string()))
    return pa.array(listed.values(), pa.int32()).take(found)


def codes(column: Column, values: Sequence[str]) -> Array:
    """The place of each value in a list, nan where it is not in it."""
    return floats(places(column, values))


def floats(column: Column) -> Array:
    """Plain numbers as they are, nan where there is none."""
    values: Array = column.cast(arrow().float64(), safe=False).to_numpy(zero_copy_only=False)
    return values


def decoded(column: Column, kind: Number | Category) -> Array:
    """One column as numbers; see `Batched.batches`."""
    return numbers(column) if isinstance(kind, Number) else codes(column, kind.values)


def matrix(batch: Any, names: Sequence[str], schema: Schema, order: Literal["C", "F"] = "C") -> Array:
    """The first columns of a record batch, which have these names, as bounded numbers; by rows or columns."""
    values = np.empty((batch.num_rows, len(names)), order=order)
    for i, name in enumerate(names):
        kind = decoding.known(schema, name)
        _put(decoded(batch.column(i), kind), kind, values[:, i])
    return values


def _put(column: Array, kind: Number | Category, out: Array) -> None:
    """Write a column as `decoding.bounded` has it: x - x + x is nan where x is not finite, and never minus zero."""
    with np.errstate(invalid="ignore"):
        values = column - column
    values += column
    if isinstance(kind, Number):
        np.clip(values, kind.lower + 0.0, kind.upper + 0.0, out=out)
    else:
        out[:] = values


def read_matrix(batch: Any, width: int) -> Array:
    """The first columns of a record batch that is decoded already."""
    values = np.empty((batch.num_rows, width))
    for i in range(width):
        values[:, i] = floats(batch.column(i))
    return values


def canonical(column: Column, name: str, schema: Schema) -> Column:
    """What a column holds to any question: bounded numbers, places in a list, texts; null where there is nothing."""
    match schema.columns[name]:
        case Number():
            values = decoding.bounded(numbers(column)[:, None], [name], schema)[:, 0]
            return arrow().array(values, from_pandas=True)
        case Category(listed):
            return places(column, listed)
        case Text():
            return texts(column)


def is_whole(kind: Any) -> bool:
    """Whether a type holds whole numbers, which tell units apart as their digits would."""
    return bool(arrow().types.is_integer(kind))


def plain(column: Column) -> Column:
    """The column without dictionary, run lengths or extension; days where it counts them in milliseconds."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        return plain(_plain_view(column.dictionary).take(column.indices))
    if pa.types.is_run_end_encoded(column.type):
        return plain(pa.compute.run_end_decode(column))
    if _is_wrapped(column.type):
        return plain(column.storage)
    return column.cast(pa.date32(), safe=False) if pa.types.is_date64(column.type) else column


def _plain_view(column: Column) -> Column:
    """The column as bytes where Arrow would have to take from views of text, which it cannot."""
    is_a = arrow().types
    viewed = is_a.is_string_view(column.type) or is_a.is_binary_view(column.type)
    return column.cast(arrow().large_binary()) if viewed else column


def _values(kind: Any) -> Any:
    """The type of the values that a type encodes."""
    is_a = arrow().types
    if is_a.is_dictionary(kind) or is_a.is_run_end_encoded(kind):
        return _values(kind.value_type)
    return _values(kind.storage_type) if _is_wrapped(kind) else kind


def _is_wrapped(kind: Any) -> bool:
    pa = arrow()
    return isinstance(kind, pa.BaseExtensionType) and not isinstance(kind, pa.UuidType)


def _decimals(column: Column) -> Array:
    """Decimals as the nearest floats: one exact division where the digits fit in 53 bits and the scale is exact."""
    words = np.frombuffer(column.buffers()[1], dtype=np.int64).reshape(-1, 2)[column.offset :][: len(column)]
    low, there = words[:, 0], column.is_valid().to_numpy(zero_copy_only=False)
    small = (np.abs(low) < 2**53) & (words[:, 1] == low >> 63)
    if not 0 <= column.type.scale <= 22 or not np.all(small | ~there):
        return decoding.numbers(_objects(column))
    return np.where(there, low / 10.0**column.type.scale, np.nan)


def _valid(column: Column) -> Column:
    """Texts in UTF-8, with a mark where the bytes are none."""
    pa = arrow()
    raw = column.cast(pa.large_binary())
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array([b if b is None else b.decode(errors="replace") for b in raw.to_pylist()], pa.large_string())


def _objects(column: Column) -> Any:
    return np.fromiter(column.to_pylist(), dtype=object, count=len(column))


def _is_plain(kind: Any) -> bool:
    is_a = arrow().types
    return bool(is_a.is_floating(kind) or is_a.is_date32(kind) or is_a.is_timestamp(kind) or is_a.is_duration(kind))


def _is_text(kind: Any) -> bool:
    is_a = arrow().types
    strings = is_a.is_string(kind) or is_a.is_large_string(kind) or is_a.is_string_view(kind)
    return bool(strings or is_a.is_binary(kind) or is_a.is_large_binary(kind) or is_a.is_binary_view(kind))
