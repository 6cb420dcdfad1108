"""Records that are read once and kept in memory: for a process that answers many questions about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.core.condition import Condition
from discreet.core.grid import Array
from discreet.schema.schema import Category, Number
from discreet.trust.sources.source import Batched, batch_rows


class RowsInMemory(Batched):
    """The numbers and categories of another source, kept as it hands them over; texts are asked of that one.

    Parameters
    ----------
    source : Batched
        Public. Where the records are, of which no unit is pooled.

    Examples
    --------
    >>> from discreet.schema.schema import Schema
    >>> from discreet.trust.sources.matrix import Matrix
    >>> kept = RowsInMemory(Matrix(np.array([[30.0], [200.0]]), Schema({"age": Number(0, 120)})))
    >>> kept.everything(["age"]).tolist()
    [[30.0], [120.0]]
    """

    def __init__(self, source: Batched) -> None:
        self._source, self.schema, self.unit, self.counted = source, source.schema, source.unit, source.counted
        names = [name for name, kind in self.schema.columns.items() if isinstance(kind, Number | Category)]
        self._places = {name: place for place, name in enumerate(names)}
        self._values = np.asfortranarray(source.everything(names))
        self._units = source.units()

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Some rows of the kept matrix at a time; see `Batched`."""
        places = [self._places[name] if name in self._places else self._missing(name) for name in columns]
        step = batch_rows(len(places))
        for start in range(0, len(self._values), step):
            yield self._values[start : start + step, places]

    def _missing(self, name: str) -> int:
        """Refused by the source itself, in its own words."""
        next(iter(self._source.batches([name])))
        raise KeyError(name)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, as the source has them."""
        return self._source.keys(column, condition)

    def units(self) -> int:
        """Their number, as the source has it."""
        return self._units
