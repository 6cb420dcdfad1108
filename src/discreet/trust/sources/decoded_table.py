"""Decoded records in DuckDB: added up there where a question says how, and here where not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.core.condition import Condition
from discreet.core.formula import Formula
from discreet.core.grid import Array, Steps
from discreet.core.held import unheld
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust.sources import source
from discreet.trust.sources.cell_sums import CellSums, with_columns
from discreet.trust.sources.columns.arrow_column import read_matrix
from discreet.trust.sources.columns.decoding import known
from discreet.trust.sources.shielded import shielded, shielded_all
from discreet.trust.sources.source import Batched, sliced


@unheld("cache")
class DecodedTable(Batched):
    """A DuckDB relation of decoded records as a source.

    Parameters
    ----------
    asked : str
        What is read, for errors.
    rows : callable
        Gives the relation, again for every question: the schema's columns in c0, c1, ...; a number inside its bounds, a
        category as its place in the list, a text without outer blanks; NULL where there is nothing.
    schema, unit : Schema, Unit
        Public. What the records are; no unit has more rows than it may.
    """

    def __init__(self, asked: str, rows: Callable[[], Any], schema: Schema, unit: Unit = RECORD) -> None:
        self.schema, self.unit = schema, unit
        self._asked, self._rows = asked, rows
        self._columns = {name: f"c{i}" for i, name in enumerate(schema.columns)}
        self._beyond_floats = False

    def sum(self, question: BoundedSum) -> Steps:
        if (tally := question.tally) is None:
            return super().sum(question)
        if not tally.before:
            return self._added(CellSums.of(question, self._names(question.columns)), self._rows).ravel()
        rows = self._chosen(question.columns)
        return self._added(CellSums.of(question), lambda: with_columns(rows, tally)).ravel()

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        """Records that add to the same cells in several sums are read once for them."""
        found: dict[int, Steps] = {}
        together: dict[tuple[Formula, int], list[tuple[int, CellSums]]] = {}
        for place, question in enumerate(questions):
            if question.tally is None or question.tally.before:
                found[place] = self.sum(question)
                continue
            own = CellSums.of(question, self._names(question.columns))
            together.setdefault((own.cell, own.cells), []).append((place, own))
        for cell, each in together.items():
            found |= zip([place for place, _ in each], self._at_once(cell, [own for _, own in each]), strict=True)
        return [found[place] for place in range(len(questions))]

    def _at_once(self, cell: tuple[Formula, int], each: Sequence[CellSums]) -> list[Steps]:
        """Sums of the same cells."""
        whole = CellSums(*cell, tuple(addend for own in each for addend in own.addends))
        found = self._added(whole, self._rows)
        ends = np.cumsum([len(own.addends) for own in each])[:-1]
        return [part.ravel() for part in np.split(found, ends, axis=1)]

    def _added(self, sums: CellSums, rows: Callable[[], Any]) -> Steps:
        """What the rows of each cell add up to: by floats, until one of the sums was beyond them."""
        found = None
        if not self._beyond_floats:
            found = shielded(self._asked, lambda: sums.added(rows(), floats=True))
            self._beyond_floats = found is None
        if found is None:
            found = shielded(self._asked, lambda: sums.added(rows(), floats=False))
        assert found is not None
        return found

    def _names(self, columns: Sequence[str]) -> list[str]:
        for name in columns:
            known(self.schema, name)
        return [self._columns[name] for name in columns]

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        for batch in self._batches(lambda: self._chosen(columns)):
            yield read_matrix(batch, len(columns))

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:

        def counts() -> Any:
            rows = self._rows()
            if condition is not None:
                rows = rows.filter(condition.sql({name: i for i, name in enumerate(self._columns)}))
            values = rows.project(f"{self._columns[column]} AS key").filter("key IS NOT NULL")
            return values.aggregate("key, count(*) AS count", "key")

        for batch in self._batches(counts):
            keys, rows = batch.columns
            yield dict(zip(keys.to_pylist(), rows.to_pylist(), strict=True))

    def units(self) -> int:
        return int(shielded(self._asked, lambda: self._rows().aggregate("count(*)").fetchall()[0][0]))

    def _batches(self, rows: Callable[[], Any]) -> Iterator[Any]:
        """A relation's Arrow record batches."""
        return shielded_all(self._asked, lambda: sliced(rows().to_arrow_reader(source.BATCH)))

    def _chosen(self, names: Sequence[str], *others: str) -> Any:
        """The columns of these names as c0, c1, ..., and others; never none, for the number of rows."""
        for name in names:
            known(self.schema, name)
        columns = [*(self._columns[name] for name in names), *others] or ["c0"]
        return self._rows().project(", ".join(f"{column} AS c{i}" for i, column in enumerate(columns)))
