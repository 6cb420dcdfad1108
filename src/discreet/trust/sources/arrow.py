"""Records in any data frame that speaks Arrow: polars, PyArrow and others; cut into batches, never copied whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Unit
from discreet.schema.schema import Schema
from discreet.trust.sources.columns.arrow_column import arrow, check_types
from discreet.trust.sources.header import check_header, not_single, read_columns
from discreet.trust.sources.stream import Stream


class ArrowFrame(Stream):
    """A data frame with `__arrow_c_stream__` as a source.

    Parameters
    ----------
    frame : pyarrow.Table, polars.DataFrame or the like
        The records. It must give the same ones each time it is read: a one-time stream is refused.
    schema : Schema
        Public. Columns that it does not describe are never read.
    unit : Unit
        Public. Rows without a unit are left out, and those beyond `unit.rows` unless units are pooled.
    """

    def __init__(self, frame: Any, schema: Schema, unit: Unit = RECORD) -> None:
        asked, frame = f"read a {type(frame).__name__}", _exportable(frame)
        if _spent_by_reading(frame):
            raise ParameterError(asked, "it can be read only once", "Give a table, or write the stream to a file.")
        header, wanted = _reader(frame).schema, read_columns(schema, unit)
        check_header(asked, header.names, schema, unit)
        check_types(asked, {name: header.field(name).type for name in wanted}, schema)
        for name in wanted:
            if _is_polars(frame) and str(frame.schema[name]) == "Object":  # to Arrow it would give addresses
                raise not_single(asked, name, "Python objects")
        unit_type = header.field(unit.column).type if unit.column is not None else None
        self.counted = _is_polars(frame) or hasattr(frame, "num_rows")  # others may be queries
        super().__init__(asked, lambda names: _batches(frame, names), schema, unit, unit_type=unit_type)


def _reader(frame: Any) -> Any:
    return arrow().RecordBatchReader.from_stream(frame)


def _batches(frame: Any, names: Sequence[str]) -> Iterator[Any]:
    if _is_polars(frame):  # its `select` would take a name such as "^x$" for a pattern
        frame = frame[list(dict.fromkeys(names))]
    for batch in _reader(frame):
        yield batch.select(list(names))


def _exportable(frame: Any) -> Any:
    """The data frame with digits where polars has whole numbers of 128 bits, for which Arrow has no type."""
    if not _is_polars(frame):
        return frame
    wide = [name for name, kind in frame.schema.items() if str(kind).endswith("Int128")]
    return frame.with_columns(frame.get_column(name).cast(str) for name in wide)


def _is_polars(frame: Any) -> bool:
    return hasattr(frame, "get_columns")


def _spent_by_reading(frame: Any) -> bool:
    """Whether reading takes the records away: by what it is, and by trying."""
    if hasattr(frame, "__next__") or hasattr(frame, "read_next_batch"):
        return True
    first, again = (next(iter(_reader(frame)), None) for _ in range(2))
    return first is not None and again is None
