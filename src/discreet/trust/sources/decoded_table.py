"""Decoded records in DuckDB: added up there where a question says how, and here where not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.core.condition import Condition
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import RECORD, Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust.sources import source
from discreet.trust.sources.columns.arrow_column import read_matrix
from discreet.trust.sources.columns.decoding import known
from discreet.trust.sources.shielded import shielded, shielded_all
from discreet.trust.sources.source import Batched, sliced


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

    def sum(self, question: BoundedSum) -> Steps:
        if (tally := question.tally) is None:
            return super().sum(question)
        return shielded(self._asked, lambda: tallied(self._chosen(question.columns), tally, question.grid))

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


def tallied(rows: Any, tally: Tally, grid: Grid) -> Steps:
    """What all rows add up to, in grid steps: cut towards zero row by row, and integers from there on.

    Beyond 2**63 steps it wraps around, as `exact_sum` does.
    """
    total = np.zeros((tally.cells, len(tally.values)), dtype=np.int64)
    for cell, *numbers in cell_sums(rows, tally, grid, "cell").fetchall():
        total[cell] = [((number or 0) + 2**63) % 2**64 - 2**63 for number in numbers]
    return total.ravel()


def cell_sums(rows: Any, tally: Tally, grid: Grid, by: str) -> Any:
    """A relation with what the rows of each cell, or of each cell of something else, add up to in grid steps."""
    for level in tally.before:
        rows = rows.project(", ".join(f"{one.sql} AS c{i}" for i, one in enumerate(level)))
    scale = Formula.constant(2.0**-grid.exponent)
    steps = [f"CAST(trunc({(value * scale).sql}) AS BIGINT) AS s{j}" for j, value in enumerate(tally.values)]
    marked = rows.project(", ".join(["*", f"CAST({tally.cell.sql} AS INTEGER) AS cell", *steps]))
    sums = ", ".join([by, *(f"sum(s{j}) AS s{j}" for j in range(len(steps)))])
    return marked.filter("cell IS NOT NULL").aggregate(sums, by)
