"""Records in a data frame: pandas, polars, or anything that maps column names to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import SchemaError
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Unit
from discreet.core.schema import Schema, Text
from discreet.trust.sources.contributions import fingerprints, kept_rows
from discreet.trust.sources.decoding import bounded, decoded, texts
from discreet.trust.sources.source import BATCH, Batched


class Frame(Batched):
    """A data frame as a source.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or mapping of str to array
        The records. Columns that the schema does not describe are never read.
    schema : Schema
        Public.
    unit : Unit
        Public. For a user, the rows beyond `unit.rows` and those without a unit are left out.
    """

    def __init__(self, frame: Any, schema: Schema, unit: Unit = RECORD) -> None:
        self.schema, self.unit = schema, unit
        wanted = [*schema.columns, *([unit.column] if unit.column else [])]
        present = set(frame.keys() if isinstance(frame, Mapping) else frame.columns)
        absent = [name for name in wanted if name not in present]
        if absent:
            raise SchemaError("data frame", f"it has no column {absent[0]!r}", "Correct the schema.", absent=absent)
        self._columns = {name: _raw(frame[name]) for name in wanted}
        self._rows = len(next(iter(self._columns.values())))
        self._units = self._rows
        if unit.column:
            self._bound_units(unit)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Matrices of at most `BATCH` rows; see `Batched`."""
        for start in range(0, self._rows, BATCH):
            rows = slice(start, start + BATCH)
            matrix = [decoded(self._columns[name][rows], self._known(name)) for name in columns]
            yield bounded(np.column_stack(matrix), columns, self.schema)

    def keys(self, column: str) -> Iterator[dict[str, int]]:
        """Rows per value of a text column; see `Source`."""
        for start in range(0, self._rows, BATCH):
            text, there = texts(self._columns[column][start : start + BATCH])
            values, counts = np.unique(text[there], return_counts=True)
            yield dict(zip(values.tolist(), counts.tolist(), strict=True))

    def units(self) -> int:
        """The number of units."""
        return self._units

    def _known(self, name: str) -> Any:
        column = self.schema.columns[name]
        if isinstance(column, Text):
            raise SchemaError(f"column {name!r}", "its values are not public", "Use private key selection.")
        return column

    def _bound_units(self, unit: Unit) -> None:
        names, there = texts(self._columns[str(unit.column)])
        content = [
            texts(self._columns[name])[0] if isinstance(column, Text) else decoded(self._columns[name], column)
            for name, column in self.schema.columns.items()
        ]
        whole = np.flatnonzero(there)
        rows = whole[kept_rows(names[whole], fingerprints(content)[whole], unit.rows)]
        self._columns = {name: values[rows] for name, values in self._columns.items()}
        self._rows, self._units = len(rows), len(np.unique(names[whole]))


def _raw(column: Any) -> NDArray[Any]:
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    return np.asarray(values)
