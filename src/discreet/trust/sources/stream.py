"""Records that come as Arrow record batches, again for every question, never all at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from discreet.core.condition import Condition
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.core.held import unheld
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust.exact_sum import exact_sum
from discreet.trust.sources.columns.arrow_column import arrow, check_types, fulfilling, matrix
from discreet.trust.sources.columns.decoding import known
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.engine import engine
from discreet.trust.sources.header import check_header, not_single, read_columns
from discreet.trust.sources.kept_rows import KeptRows, canonical_batches, canonical_fields, named
from discreet.trust.sources.pooled import Pooled
from discreet.trust.sources.shielded import shielded, shielded_all
from discreet.trust.sources.source import Batched, sliced

Read = Callable[[Sequence[str]], Iterable[Any]]
"""Names of columns in, Arrow record batches with these columns out."""


@unheld("own turns")
class Stream(Batched):
    """Arrow record batches as a source.

    What units keep or pool is set aside once, when the source is opened or before the first question; without units
    every question reads the records again.

    Parameters
    ----------
    asked : str
        What is read, for errors.
    read : callable
        Names of columns in, Arrow record batches with these columns in this order out; the same records each time.
    unit_type : Arrow type, optional
        Of the unit's column, where it is the same in all batches.
    """

    early: ClassVar[bool] = True
    """Whether it is set aside when the source is opened, as others may change what it reads at any time."""

    def __init__(self, asked: str, read: Read, schema: Schema, unit: Unit = RECORD, *, unit_type: Any = None) -> None:
        self.schema, self.unit = schema, unit
        self._asked, self._read, self._unit_type = asked, read, unit_type
        self._bounded: Batched | None = None
        self._bounding = threading.RLock()
        if self.early:
            _ = self._kept

    @property
    def _kept(self) -> Batched | None:
        """What units keep or pool; None where every record is one."""
        if self._bounded is None and self.unit.column is not None:
            with self._bounding:
                self._bounded = self._bounded or shielded(self._asked, self._set_aside)
        return self._bounded

    def sum(self, question: BoundedSum) -> Steps:
        table = self._kept or (self._decoded_table() if question.tally is not None else None)
        if table is not None:
            return table.sum(question)
        return super().sum(question) if question.total is None else self._fused(question)

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        table = self._kept or (self._decoded_table() if all(one.tally is not None for one in questions) else None)
        return super().sums(questions) if table is None else table.sums(questions)

    def _fused(self, question: BoundedSum) -> Steps:
        """The same, of columns that stay as they come: a fused sum is exact, however they lie in memory."""
        columns = question.columns
        for name in columns:
            known(self.schema, name)
        records = self._records(columns or list(self.schema.columns)[:1])
        return exact_sum(question, (matrix(batch, columns, self.schema, "F") for batch in records))

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        for name in columns:
            known(self.schema, name)
        if self._kept is not None:
            yield from self._kept.batches(columns)
            return
        for batch in self._records(columns or list(self.schema.columns)[:1]):
            yield matrix(batch, columns, self.schema)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        if self._kept is not None:
            yield from self._kept.keys(column, condition)
            return
        read = () if condition is None else condition.columns
        for batch in self._records([*read, column]):
            counts = fulfilling(batch, condition, self.schema).drop_null().value_counts()
            yield {count["values"]: count["counts"] for count in counts.to_pylist()}

    def units(self) -> int:
        if self._kept is not None:
            return self._kept.units()
        return sum(int(batch.num_rows) for batch in self._records(list(self.schema.columns)[:1]))

    def units_by_rows(self, most: int) -> Steps:
        return super().units_by_rows(most) if self._kept is None else self._kept.units_by_rows(most)

    def _decoded_table(self) -> DecodedTable | None:
        """The records in an engine that decodes them by itself; None where Arrow must."""
        return None

    def _decoded(self, connection: Any) -> Any:
        """A relation on this connection with all records, decoded; see `KeptRows`."""
        first = next(iter(self.schema.columns)) if self.unit.column is None else self.unit.column
        raw = self._records([first, *self.schema.columns])
        batches = canonical_batches(raw, self.schema, self._unit_type)
        fields = canonical_fields(self.schema, self._unit_type)
        return connection.from_arrow(arrow().RecordBatchReader.from_batches(fields, batches))

    def copy_into(self, connection: Any, table: str) -> None:
        shielded(self._asked, lambda: named(self._decoded(connection), self.schema, self.unit).create(table))

    def _set_aside(self) -> Batched:
        connection, bounded = engine(), Pooled if self.unit.pooled else KeptRows
        return bounded(self._asked, connection, self._decoded(connection), self.schema, self.unit)

    def _records(self, names: Sequence[str]) -> Iterator[Any]:
        """Batches of bounded size; an engine's errors are `shielded`."""
        return shielded_all(self._asked, lambda: sliced(self._read(names)))


class ArrowFrame(Stream):
    """A data frame with `__arrow_c_stream__` as a source.

    Parameters
    ----------
    frame : pyarrow.Table, polars.DataFrame or the like
        The records. It must give the same ones each time it is read: a one-time stream is refused.
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
