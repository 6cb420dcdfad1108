"""One Arrow column as numbers or texts: the same ones that `decoding` reads from arrays, without a Python loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from discreet.core.condition import Condition
from discreet.core.errors import MissingExtra
from discreet.core.grid import Array
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.schema.value import LONGEST, NUMBER, PLAIN, TRUTHS
from discreet.trust.sources.columns import decoding
from discreet.trust.sources.header import not_single, wants_numbers, without_numbers

Column = Any
"""A pyarrow.Array."""

UTF8 = (
    r"^(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    r"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*$"
)
"""Bytes that are text: RFC 3629, section 4."""


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


def check_types(asked: str, types: Mapping[str, Any], schema: Schema) -> None:
    """Refuse columns that hold no single values, and numbers where there are none, by their type alone."""
    is_a = arrow().types
    for name, kind in types.items():
        values = _values(kind)
        if is_a.is_nested(values) or is_a.is_interval(values) or is_a.is_duration(values) or _is_foreign(kind):
            raise not_single(asked, name, kind)
        if wants_numbers(schema.columns.get(name)) and (is_a.is_temporal(values) or _is_uuid(values)):
            raise without_numbers(asked, name, kind)


def numbers(column: Column) -> Array:
    """Each value as a number, nan where it is none."""
    pa, column = arrow(), plain(column)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return floats(column)
    if pa.types.is_decimal128(column.type) and 0 <= column.type.scale <= 22:
        return _decimals(column)
    if pa.types.is_decimal(column.type):
        return floats(column.cast(pa.string()))
    return floats(_read(_trimmed(column))) if _is_text(column.type) else np.full(len(column), np.nan)


def texts(column: Column) -> Column:
    """Each value as text without outer blanks, null where there is none."""
    pa, column = arrow(), plain(column)
    if pa.types.is_integer(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_boolean(column.type):
        return pa.compute.if_else(column, *(pa.scalar(word, pa.large_string()) for word in ("true", "false")))
    if not _is_text(column.type):
        return _written(column)
    trimmed = _trimmed(column)
    plainly = pa.compute.string_is_ascii(trimmed)
    other = _where(pa.compute.invert(plainly), trimmed).view(pa.large_binary())
    valid = pa.compute.or_(plainly, pa.compute.match_substring_regex(other, UTF8).fill_null(False))
    return _where(pa.compute.and_(valid, pa.compute.not_equal(trimmed, "")), trimmed)


def names(column: Column) -> Column:
    """What each value names, where it identifies somebody, null where there is none; see `schema.value.name_of`."""
    pa, found = arrow(), texts(column)
    number = pa.compute.match_substring_regex(found, f"^(?:{PLAIN})$").fill_null(False)
    digits = _where(number, found)
    for pattern, instead in ((r"^\+", ""), (r"^(-?)\.", r"\10."), (r"^(-?)0+([0-9])", r"\1\2")):
        digits = pa.compute.replace_substring_regex(digits, pattern, instead)
    short = _shortest(digits)
    return pa.compute.if_else(number, _where(pa.compute.not_equal(short, "-0"), short).fill_null("0"), found)


def places(column: Column, category: Category) -> Column:
    """The place of each value in a list, null where it is not in it."""
    pa, column = arrow(), plain(column)
    words = {form: place for form, place in category.places.items() if isinstance(form, str)}
    forms = {form: place for form, place in category.places.items() if isinstance(form, float)}
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        found = decoding.written(_array(column)) if pa.types.is_floating(column.type) else numbers(column)
        return _found(pa.array(found + 0.0), forms)
    if not _is_text(column.type):
        return _found(texts(column), words)
    trimmed = _trimmed(column)
    truths = {word: words[truth] for word, truth in TRUTHS.items() if truth in words}
    found = pa.compute.coalesce(_found(trimmed, words), _found(pa.compute.ascii_lower(trimmed), truths))
    return pa.compute.coalesce(found, _found(_digits(trimmed), forms)) if forms else found


def _found(column: Column, listed: Mapping[Any, int]) -> Column:
    pa = arrow()
    among = pa.compute.index_in(column, pa.array(list(listed), column.type))
    return pa.array(list(listed.values()), pa.int32()).take(among)


def codes(column: Column, category: Category) -> Array:
    """The place of each value in a list, nan where it is not in it."""
    return floats(places(column, category))


def floats(column: Column) -> Array:
    """Plain numbers as they are, nan where there is none."""
    own = column if column.type == arrow().float64() else column.cast(arrow().float64(), safe=False)
    values: Array = own.to_numpy(zero_copy_only=False)
    return values


def decoded(column: Column, kind: Number | Category) -> Array:
    """One column as numbers; see `Batched.batches`."""
    match kind:
        case Temporal():
            return times(column, kind)
        case Number():
            return numbers(column)
        case _:
            return codes(column, kind)


def times(column: Column, kind: Temporal) -> Array:
    """Each value as the number that stands for its time, nan where it is none; each text that occurs is read once."""
    pa, column = arrow(), plain(column)
    if pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type):
        return kind.counts(column.to_numpy(zero_copy_only=False))
    coded = texts(column).dictionary_encode()
    return floats(pa.array(decoding.times(_array(coded.dictionary), kind)).take(coded.indices))


def matrix(batch: Any, names: Sequence[str], schema: Schema, order: Literal["C", "F"] = "C") -> Array:
    """The first columns of a record batch, which have these names, as bounded numbers; by rows or columns."""
    values = np.empty((batch.num_rows, len(names)), order=order)
    with np.errstate(invalid="ignore"):
        for i, name in enumerate(names):
            kind = decoding.known(schema, name)
            _put(decoded(batch.column(i), kind), kind, values[:, i])
    return values


def fulfilling(batch: Any, condition: Condition | None, schema: Schema, *, decoded: bool = False) -> Column:
    """The texts in the last column of a record batch, of the records that fulfil a condition on the others."""
    last = texts(batch.column(batch.num_columns - 1))
    if condition is None:
        return last
    width = len(condition.columns)
    values = (read_matrix(batch, width) if decoded else matrix(batch, condition.columns, schema)).T
    return last.filter(arrow().array(condition.mask(dict(zip(condition.columns, values, strict=True)))))


def _put(column: Array, kind: Number | Category, out: Array) -> None:
    """Write a column as `decoding.bounded` has it: x - x + x is nan where x is not finite, and never minus zero."""
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
        case Number() as number:
            values = decoding.bounded(decoded(column, number)[:, None], [name], schema)[:, 0]
            return arrow().array(values, from_pandas=True)
        case Category() as category:
            return places(column, category)
        case Text():
            return texts(column)


def is_whole(kind: Any) -> bool:
    """Whether a type holds whole numbers, which identify units as their digits would."""
    return bool(arrow().types.is_integer(kind))


def plain(column: Column) -> Column:
    """The column without dictionary, run lengths or extension; days where it counts them in milliseconds."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        return plain(_plain_view(column.dictionary).take(column.indices))
    if pa.types.is_run_end_encoded(column.type):
        return plain(pa.compute.run_end_decode(column))
    if _is_wrapped(column.type):
        return _shortest(column.storage) if _is_decimal(column.type) else plain(column.storage)
    return column.cast(pa.date32(), safe=False) if pa.types.is_date64(column.type) else column


def _is_decimal(kind: Any) -> bool:
    """Whether these are decimals of any length, which PostgreSQL's driver hands over as texts."""
    return isinstance(kind, arrow().OpaqueType) and kind.type_name == "numeric"


def _is_foreign(kind: Any) -> bool:
    """Whether Arrow has no such type, and these are bytes of an engine's; those of PostgreSQL are looked at by name."""
    return isinstance(kind, arrow().OpaqueType) and kind.vendor_name != "PostgreSQL"


def _shortest(digits: Column) -> Column:
    """Decimals without zeros at their end."""
    replaced = arrow().compute.replace_substring_regex
    return replaced(replaced(digits, r"(\.[0-9]*?)0+$", r"\1"), r"\.$", "")


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
    return isinstance(kind, pa.BaseExtensionType) and not _is_uuid(kind)


def _decimals(column: Column) -> Array:
    """Decimals as the nearest floats: one exact division where the digits fit in 53 bits, else read from the digits."""
    words = np.frombuffer(column.buffers()[1], dtype=np.int64).reshape(-1, 2)[column.offset :][: len(column)]
    low, there = words[:, 0], column.is_valid().to_numpy(zero_copy_only=False)
    found = np.where(there, low / 10.0**column.type.scale, np.nan)
    large = there & ((low >= 2**53) | (low <= -(2**53)) | (words[:, 1] != low >> 63))
    found[large] = floats(column.filter(arrow().array(large)).cast(arrow().string()))
    return found


def _trimmed(column: Column) -> Column:
    """Texts without outer blanks, null where they are too long; whether they are UTF-8 is not known yet."""
    pa = arrow()
    raw = column.cast(pa.large_binary())
    short = _where(pa.compute.less_equal(pa.compute.binary_length(raw), LONGEST), raw)
    return pa.compute.ascii_trim_whitespace(short.view(pa.large_string()))


def _read(trimmed: Column) -> Column:
    """Texts as numbers; words for booleans are 1 and 0."""
    pa = arrow()
    truths = {word: int(truth == "true") for word, truth in TRUTHS.items()}
    return pa.compute.coalesce(_digits(trimmed), _found(pa.compute.ascii_lower(trimmed), truths).cast(pa.float64()))


def _digits(trimmed: Column) -> Column:
    """The numbers that are written in digits; minus zero is zero."""
    pa = arrow()
    digits = _where(pa.compute.match_substring_regex(trimmed, f"^(?:{NUMBER})$"), trimmed)
    return pa.compute.add(digits.cast(pa.float64()), 0.0)


def _where(condition: Column, column: Column) -> Column:
    pa = arrow()
    return pa.compute.if_else(condition, column, pa.scalar(None, column.type))


def _written(column: Column) -> Column:
    """Values of other types as texts; each that occurs is written once, where Arrow can distinguish them."""
    pa = arrow()
    if _is_uuid(column.type) or not _is_encodable(column.type):
        return pa.array(decoding.texts(_array(column)), pa.large_string())
    coded = column.dictionary_encode()
    return pa.array(decoding.texts(_array(coded.dictionary)), pa.large_string()).take(coded.indices)


def _array(column: Column) -> Any:
    """An array of floats, days or instants, or one of Python objects."""
    is_a, kind = arrow().types, column.type
    if is_a.is_floating(kind) or is_a.is_date32(kind) or is_a.is_timestamp(kind):
        return column.to_numpy(zero_copy_only=False)
    return np.fromiter(column.to_pylist(), dtype=object, count=len(column))


def _is_encodable(kind: Any) -> bool:
    is_a = arrow().types
    return not (is_a.is_decimal32(kind) or is_a.is_decimal64(kind) or is_a.is_null(kind))


def _is_uuid(kind: Any) -> bool:
    return isinstance(kind, arrow().UuidType)


def _is_text(kind: Any) -> bool:
    is_a = arrow().types
    strings = is_a.is_string(kind) or is_a.is_large_string(kind) or is_a.is_string_view(kind)
    bytes_ = is_a.is_binary(kind) or is_a.is_large_binary(kind) or is_a.is_binary_view(kind)
    return bool(strings or bytes_ or is_a.is_fixed_size_binary(kind))
