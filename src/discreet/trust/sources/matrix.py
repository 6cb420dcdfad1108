"""Records in a matrix of numbers: one row each, one column per feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.condition import Condition
from discreet.core.errors import SchemaError
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.dates import Temporal
from discreet.schema.schema import Schema
from discreet.trust.exact_sum import exact_sum
from discreet.trust.sources.columns.decoding import AT_HAND, bounded, numbers, unmasked
from discreet.trust.sources.kept_rows import canonical_table
from discreet.trust.sources.source import BATCH, Batched, Coins


class Matrix(Batched):
    """A matrix of decoded records as a source; its columns are those of the schema, in order.

    Parameters
    ----------
    values : array of shape (n, features)
        The records. A category is its place in the list, nan where there is none: `decoding.codes` gives these.
    schema : Schema
        Public. All columns numeric, or categories.
    """

    unit: Unit = RECORD
    counted = True

    def __init__(self, values: NDArray[Any], schema: Schema) -> None:
        self._values = _floats(unmasked(values))
        if self._values.ndim != 2 or self._values.shape[1] != len(schema.columns):
            raise SchemaError(
                "matrix",
                f"its shape is {self._values.shape} and the schema has {len(schema.columns)} columns",
                "Give one row per record and one column per feature.",
            )
        if dates := [name for name, kind in schema.columns.items() if isinstance(kind, Temporal)]:
            raise SchemaError("matrix", f"the schema has dates in {dates[0]!r}", "Give a data frame or a file.")
        self.schema = schema
        self._place = dict(zip(schema.columns, range(len(schema.columns)), strict=True))

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        rows = min(BATCH, max(1, AT_HAND // max(1, len(columns))))
        for start in range(0, len(self._values), rows):
            yield bounded(self._of(self._values[start : start + rows], columns), columns, self.schema)

    def sum(self, question: BoundedSum) -> Steps:
        if not question.raw:
            return super().sum(question)
        return exact_sum(question, [self._of(self._values, question.columns)])

    def chosen(self, columns: Sequence[str], coins: Coins) -> Iterator[Array]:
        """Some of the rows; see `Batched`. The others are not read."""
        rows = self._values[coins(len(self._values))]
        for start in range(0, len(rows), BATCH):
            yield bounded(self._of(rows[start : start + BATCH], columns), columns, self.schema)

    def everything(self, columns: Sequence[str]) -> Array:
        return bounded(self._of(self._values, columns), columns, self.schema)

    def found(self, columns: Sequence[str]) -> Array:
        """All rows, with numbers as they are found: nan where one is none, and not moved inside their bounds."""
        return self._of(self._values, columns)

    def _of(self, rows: Array, columns: Sequence[str]) -> Array:
        """Some columns; a copy only where they do not lie side by side."""
        places = list(map(self._place.__getitem__, columns))
        first = min(places, default=0)
        whole = slice(first, first + len(places))
        return rows[:, whole if places == list(range(first, whole.stop)) else places]

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Refused: a matrix has no text."""
        raise SchemaError(f"column {column!r}", "a matrix has no text columns", "Give a data frame or a file.")

    def copy_into(self, connection: Any, table: str) -> None:
        content = list(self.everything(list(self.schema.columns)).T)
        connection.from_arrow(canonical_table(None, content, self.schema, len(self._values))).create(table)

    def units(self) -> int:
        return len(self._values)


def _floats(values: NDArray[Any]) -> Array:
    """The values as numbers, nan where one is none."""
    if values.dtype.kind in "mMcV":
        raise SchemaError("matrix", f"it holds {values.dtype}: no numbers", "Compute numbers from it first.")
    return values if values.dtype == np.float64 else numbers(values.ravel()).reshape(values.shape)
