"""Records in memory: a pandas data frame, or anything that maps column names to arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.condition import Condition
from discreet.core.errors import SchemaError
from discreet.core.grid import Array, Steps
from discreet.core.held import Secret, unheld
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.schema.value import name_of
from discreet.trust.exact_sum import UnitRows, exact_sum, pooled_sum
from discreet.trust.sources import source
from discreet.trust.sources.columns import decoding, pandas_column
from discreet.trust.sources.columns.decoding import bounded, known
from discreet.trust.sources.header import check_header, read_columns
from discreet.trust.sources.kept_rows import Ranks, canonical_table, kept_rows, text_ranks, unit_numbers
from discreet.trust.sources.pooled import unbounded
from discreet.trust.sources.source import Batched

Rows = slice | NDArray[np.intp]
PLAIN = [np.dtype(kind) for kind in ("float64", "float32", "int64", "int32", "bool")]


@dataclass(frozen=True)
class CodedColumn(Secret):
    """Numbers as they are, and categories as their places in the schema's list, in as few bytes as these take.

    That is never more than the raw column, whose values took at least as many bytes as a reference to each.

    Examples
    --------
    >>> column = CodedColumn.of([np.array([0.0, np.nan]), np.array([1.0])], Category(("f", "m")))
    >>> column.stored.dtype, column.values(slice(0, 3))
    (dtype('uint8'), array([ 0., nan,  1.]))
    """

    stored: NDArray[Any]  # one number for each record
    meanings: Array | None  # what each of them stands for, nan for the last; None where they stand for themselves

    @classmethod
    def of(cls, batches: Iterable[Array], kind: Number | Category) -> CodedColumn:
        """A column that comes decoded, batch by batch; see `Batched.batches`."""
        if isinstance(kind, Number):
            return cls(np.concatenate([np.empty(0), *batches]), None)
        missing = len(kind.values)
        least = np.min_scalar_type(missing)
        stored = [np.where(np.isnan(batch), missing, batch).astype(least) for batch in batches]
        return cls(np.concatenate([np.empty(0, least), *stored]), np.append(np.arange(float(missing)), np.nan))

    def values(self, rows: slice | NDArray[np.intp]) -> Array:
        """The decoded values of some records."""
        found: Array = self.stored[rows] if self.meanings is None else self.meanings.take(self.stored[rows])
        return found


@unheld("cache")
class Frame(Batched):
    """A data frame as a source; a batch of it at a time is decoded, texts and categories for the first question only.

    Parameters
    ----------
    frame : pandas.DataFrame or mapping of str to array
        The records. Columns that the schema does not describe are never read.
    """

    counted = True

    def __init__(self, frame: Any, schema: Schema, unit: Unit = RECORD) -> None:
        self.schema, self.unit = schema, unit
        check_header("data frame", list(frame.keys() if isinstance(frame, Mapping) else frame.columns), schema, unit)
        self._columns, shapes = {}, set()
        for name in read_columns(schema, unit):
            column = self._columns[name] = _column(frame[name])
            shapes.add(column.shape)
        for name, column in self._columns.items():
            pandas_column.check_type("data frame", name, column.dtype, schema)
        self._size = self._units = len(next(iter(self._columns.values())))
        if shapes != {(self._size,)}:
            raise SchemaError("data frame", f"its columns have shapes {shapes}", "Give one value or None per record.")
        self._coded: dict[str, CodedColumn] = {}
        self._kept: NDArray[np.intp] | None = None
        self._first = np.zeros(0, dtype=np.bool_)
        if unit.column is not None:
            self._bound(unit.column)

    def sum(self, question: BoundedSum) -> Steps:
        if not self.unit.pooled:
            return exact_sum(question, self._raw(question.columns)) if question.raw else super().sum(question)
        firsts = (self._first[start : start + source.BATCH] for start in range(0, len(self._first), source.BATCH))
        return pooled_sum(question, map(UnitRows, self._matrices(question.columns), firsts))

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        if self.unit.pooled:
            raise unbounded("hand over rows")
        return self._matrices(columns)

    def _matrices(self, columns: Sequence[str]) -> Iterator[Array]:
        return (bounded(matrix, columns, self.schema) for matrix in self._raw(columns))

    def _raw(self, columns: Sequence[str]) -> Iterator[Array]:
        """The same, of numbers as they are found."""
        kinds = list(map(partial(known, self.schema), columns))
        for rows in self._slices():
            found = [self._decoded(name, rows, kind) for name, kind in zip(columns, kinds, strict=True)]
            if len(found) == 1:
                yield found[0][:, None]
            else:
                yield np.column_stack(found) if found else np.empty((_length(rows), 0))

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        if self.unit.pooled:
            raise unbounded(f"count the values of {column!r}")
        for rows in self._fulfilling(condition):
            counts = Counter(self._texts(column, rows))
            yield {key: count for key, count in counts.items() if key is not None}

    def _fulfilling(self, condition: Condition | None) -> Iterator[Rows]:
        if condition is None:
            yield from self._slices()
            return
        for rows, values in zip(self._slices(), self._matrices(condition.columns), strict=True):
            places = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
            yield places[condition.mask(dict(zip(condition.columns, values.T, strict=True)))]

    def units(self) -> int:
        return self._units

    def units_by_rows(self, most: int) -> Steps:
        sizes = np.diff(np.r_[np.flatnonzero(self._first), len(self._first)])
        return np.bincount(np.minimum(sizes, most), minlength=most + 1)[1:]

    def copy_into(self, connection: Any, table: str) -> None:
        everything = slice(0, self._size)
        units = None if self.unit.column is None else self._texts(self.unit.column, everything)
        names = None if units is None else [None if one is None else name_of(one) for one in units]
        content = [self._column_of(name, everything) for name in self.schema.columns]
        connection.from_arrow(canonical_table(names, content, self.schema, self._size)).create(table)

    def _column_of(self, name: str, rows: Rows) -> Any:
        """A column as questions see it."""
        kind = self.schema.columns[name]
        if isinstance(kind, Text):
            return self._texts(name, rows)
        return bounded(self._decoded(name, rows, kind)[:, None], [name], self.schema)[:, 0]

    def _slices(self) -> Iterator[Rows]:
        size = self._size if self._kept is None else len(self._kept)
        for begin in range(0, size, source.BATCH):
            rows = slice(begin, min(begin + source.BATCH, size))
            yield rows if self._kept is None else self._kept[rows]

    def _decoded(self, name: str, rows: Rows, kind: Number | Category) -> Array:
        """Plain numbers are read where they are; what takes longer to read is read once."""
        if isinstance(kind, Number) and not isinstance(kind, Temporal) and self._columns[name].dtype in PLAIN:
            return self._read(name, rows, kind)
        if name not in self._coded:
            parts = (slice(start, start + source.BATCH) for start in range(0, self._size, source.BATCH))
            self._coded[name] = CodedColumn.of((self._read(name, part, kind) for part in parts), kind)
        return self._coded[name].values(rows)

    def _read(self, name: str, rows: Rows, kind: Number | Category) -> Array:
        column = self._columns[name]
        if hasattr(column, "iloc"):
            return pandas_column.decoded(column.iloc[rows], kind)
        return decoding.decoded(column[rows], kind)

    def _texts(self, name: str, rows: Rows) -> list[str | None]:
        column = self._columns[name]
        return pandas_column.texts(column.iloc[rows]) if hasattr(column, "iloc") else decoding.texts(column[rows])

    def _bound(self, column: str) -> None:
        everything = slice(0, self._size)
        names = [None if text is None else name_of(text) for text in self._texts(column, everything)]
        whole = np.array([row for row, name in enumerate(names) if name is not None], dtype=np.intp)
        units = [name for name in names if name is not None]
        self._units = len(set(units))
        if self.unit.pooled:
            numbers = unit_numbers(units)
            order = np.argsort(numbers, kind="stable")
            self._kept, self._first = whole[order], np.diff(numbers[order], prepend=-1) > 0
        else:
            content = [self._ranks(name, whole) for name in self.schema.columns]
            self._kept = whole[kept_rows(units, content, self.unit.rows)]

    def _ranks(self, name: str, rows: NDArray[np.intp]) -> Ranks:
        kind = self.schema.columns[name]
        if isinstance(kind, Text):
            return text_ranks(self._texts(name, rows))
        values = self._column_of(name, rows)
        return np.where(np.isnan(values), -np.inf, values)


def _length(rows: Rows) -> int:
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


def _column(column: Any) -> Any:
    """An array, or a column of a data frame that can be cut before it is converted."""
    if hasattr(column, "iloc"):
        return column
    for listing in ("to_pylist", "to_list"):  # of Arrow and polars, whose arrays have no place for what is missing
        if hasattr(column, listing):
            column = getattr(column, listing)()
    return decoding.unmasked(column) if isinstance(column, np.ndarray) else decoding.objects(column)
