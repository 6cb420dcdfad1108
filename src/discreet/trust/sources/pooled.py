"""Units whose rows are bounded together: brought side by side by an engine, and added up one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from discreet.core.condition import Condition
from discreet.core.errors import EngineFailure, NotPermitted
from discreet.core.formula import Tally
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Unit
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Schema
from discreet.trust.exact_sum import MOST, UnitRows, pooled_sum, settled
from discreet.trust.sources.cell_sums import sums_by
from discreet.trust.sources.columns.arrow_column import arrow, read_matrix
from discreet.trust.sources.decoded_table import DecodedTable
from discreet.trust.sources.shielded import shielded
from discreet.trust.sources.source import sliced


class Pooled(DecodedTable):
    """All rows of all units, set aside at once in an order in which no unit's rows are apart.

    It is asked for sums alone: a unit may have any number of rows, so that nothing else about them is bounded.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        An engine of its own: it holds the rows.
    records : duckdb.DuckDBPyRelation
        On this connection. All records, decoded: `u` identifies units, the schema's columns are c0, c1, ...
    schema, unit : Schema, Unit
        Public. What is read.
    """

    def __init__(self, asked: str, connection: Any, records: Any, schema: Schema, unit: Unit) -> None:
        super().__init__(asked, lambda: connection.cursor().table("pooled"), schema, unit)
        content = ", ".join(self._columns.values())
        records.filter("u IS NOT NULL").create("records")
        connection.execute("SET preserve_insertion_order = true")
        numbered = "SELECT u, CAST(row_number() OVER () AS UINTEGER) AS n FROM (SELECT DISTINCT u FROM records)"
        connection.execute(f"CREATE TABLE units AS {numbered}")
        connection.execute(f"CREATE TABLE pooled AS SELECT n, {content} FROM records JOIN units USING (u) ORDER BY n")
        self._units = int(connection.execute("SELECT count(*) FROM units").fetchall()[0][0])
        for name in ("records", "units"):
            connection.execute(f"DROP TABLE {name}")

    def sum(self, question: BoundedSum) -> Steps:
        columns = question.columns
        width = len(columns)
        if (tally := question.tally) is None or tally.before:
            return pooled_sum(question, unit_rows(self._batches(lambda: self._chosen(columns, "n")), width))

        def sums() -> Any:
            return sums_by(self._chosen(columns, "n"), tally, question.grid, f"c{width}, cell").order(f"c{width}")

        return pooled_cells(question, tally, self._batches(sums))

    def sums(self, questions: Sequence[BoundedSum]) -> list[Steps]:
        return [self.sum(question) for question in questions]

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """Refused: the rows of a unit are not bounded."""
        raise unbounded("hand over rows")

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Refused: the rows of a unit are not bounded."""
        raise unbounded(f"count the values of {column!r}")

    def units(self) -> int:
        return self._units

    def units_by_rows(self, most: int) -> Steps:

        def counted() -> Any:
            sized = self._rows().aggregate(f"least(count(*), {most}) AS size, n", "n")
            return sized.aggregate("size, count(*) AS units", "size").fetchall()

        return filled(dict(shielded(self._asked, counted)), most)


def filled(units: dict[int, int], most: int) -> Steps:
    """The number of units with 1, 2, ... rows: none, where none is said.

    Examples
    --------
    >>> filled({1: 5, 3: 2}, 4).tolist()
    [5, 0, 2, 0]
    """
    return np.array([units.get(size, 0) for size in range(1, most + 1)], dtype=np.int64)


def unbounded(asked: str) -> NotPermitted:
    """The refusal of anything but sums."""
    return NotPermitted(
        asked,
        "the units are pooled: what their rows add up to is bounded, but not the number of their rows",
        "Ask for sums, or give the unit a number of rows.",
    )


def unit_rows(batches: Iterable[Any], width: int) -> Iterator[UnitRows]:
    """Matrices, and where units begin, from decoded record batches with one column more: a unit's number or name.

    Units come in ascending order. That is checked, since one in two places would be bounded twice.
    """
    pa, last = arrow(), None
    for batch in sliced(batches):
        units = batch.column(width)
        before = units[:1] if last is None else last
        earlier = pa.concat_arrays([before, units[:-1]])
        if pa.compute.any(pa.compute.less(units, earlier)).as_py():
            raise _out_of_order()
        first = pa.compute.not_equal(units, earlier).to_numpy(zero_copy_only=False)
        if last is None:
            first = np.r_[True, first[1:]]
        last = units[-1:]
        yield UnitRows(read_matrix(batch, width), first)


def pooled_cells(question: BoundedSum, tally: Tally, batches: Iterable[Any]) -> Steps:
    """The same as `pooled_sum`, from what the rows of each unit add up to in each cell.

    Parameters
    ----------
    question, tally : BoundedSum, Tally
        What is added up.
    batches : iterable of Arrow record batches
        Whole numbers: the unit's, in ascending order, the cell's, and the steps of each value.
    """
    total = np.zeros(tally.cells * len(tally.values), dtype=np.int64)
    unfinished = np.empty((0, 2 + len(tally.values)), dtype=np.int64)
    for batch in sliced(batches):
        columns = (column.cast(arrow().int64()).fill_null(0).to_numpy() for column in batch.columns)
        cells = np.concatenate([unfinished, np.column_stack(list(columns))])
        if np.any(np.diff(cells[:, 0]) < 0):
            raise _out_of_order()
        last = int(np.searchsorted(cells[:, 0], cells[-1, 0]))
        total += _settled_cells(question, tally, cells[:last])
        unfinished = cells[last:]
    return total + _settled_cells(question, tally, unfinished)


def _settled_cells(question: BoundedSum, tally: Tally, cells: Steps) -> Steps:
    """What these units add, a few of them at a time."""
    size = tally.cells * len(tally.values)
    total = np.zeros(size, dtype=np.int64)
    begins = np.flatnonzero(np.diff(cells[:, 0], prepend=-1))
    units = max(1, MOST // size)
    for start in range(0, len(begins), units):
        stop = begins[start + units] if start + units < len(begins) else len(cells)
        own = cells[begins[start] : stop]
        number = np.cumsum(np.diff(own[:, 0], prepend=own[0, 0]) > 0)
        sums = np.zeros((number[-1] + 1, tally.cells, len(tally.values)), dtype=np.int64)
        sums[number, own[:, 1]] = own[:, 2:]
        total += settled(question, sums.reshape(-1, size))
    return total


def _out_of_order() -> EngineFailure:
    return EngineFailure("pool units", "the engine did not keep their order", "Ask again.")
