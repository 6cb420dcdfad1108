"""Tables of counts in which a missing value is a value of its own, several of them in one sum."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum, View
from discreet.questions.recipe import recipe
from discreet.questions.tables.cells import ascending
from discreet.questions.tables.domain import MOST_CELLS, Codes, place_among
from discreet.schema.schema import Category, Schema

ASKED = "coded tables"
MOST_TABLES = 2**12
FINE = Grid(-10)  # of counts that are expected, and of weights
AxisPlaces = tuple[int, ...]


@dataclass(frozen=True)
class TableCodes:
    """The cells of each column; the last one is for missing values. All of it public.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    edges : tuple of tuples
        The edges of each number's cells, the outer ones without outer ends; empty for a category.
    sizes : tuple of int
        The number of cells of each column.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> schema = Schema({"age": Number(0, 90), "sex": Category(("f", "m"))})
    >>> codes = TableCodes.of(schema, ("age", "sex"), ((0.0, 30.0, 90.0), ()))
    >>> codes.sizes, codes.places(np.array([[31.0, 0.0], [np.nan, 1.0]])).tolist()
    ((3, 3), [[1, 0], [2, 1]])
    """

    columns: tuple[str, ...]
    edges: tuple[tuple[float, ...], ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str], edges: Sequence[Sequence[float]]) -> TableCodes:
        """The cells of these columns, if there are edges for each number and for nothing else."""
        names = schema.values(columns)
        check_one_of(ASKED, "number of edges", len(edges), (len(names),))
        sizes = []
        for name, own in zip(names, edges, strict=True):
            column = schema.columns[name]
            if isinstance(column, Category) != (len(own) == 0):
                obstacle = f"{name} has {len(own)} edges"
                raise ParameterError(ASKED, obstacle, "Give edges for numbers, and none for categories.")
            sizes.append(1 + (len(column.values) if isinstance(column, Category) else len(ascending(name, own)) - 1))
        return cls(names, tuple(tuple(map(float, own)) for own in edges), tuple(sizes))

    @cached_property
    def _edges(self) -> list[Array]:
        return [np.array(own) for own in self.edges]

    def places(self, records: Array) -> Codes:
        """The cell of each value, of records with all columns; a place that a category has not is a missing value."""
        found = np.empty(records.shape, dtype=np.intp, order="F")
        for place, (edges, size) in enumerate(zip(self._edges, self.sizes, strict=True)):
            values = records[:, place].copy()  # one after another
            missing = np.isnan(values) if len(edges) else ~((values >= 0) & (values < size - 1))
            there = np.where(missing, 0.0, values)
            cells = place_among(edges, there) if len(edges) else there.astype(np.intp)
            found[:, place] = np.where(missing, size - 1, cells)
        return found

    def middles(self, axes: AxisPlaces) -> dict[str, Array]:
        """A value of each cell of the table of some columns, by column: of a number's cell, its middle."""
        places = np.indices([self.sizes[axis] for axis in axes]).reshape(len(axes), -1)
        found = {}
        for axis, own in zip(axes, places, strict=True):
            edges = self._edges[axis]
            values = (edges[1:] + edges[:-1]) / 2 if len(edges) else np.arange(self.sizes[axis] - 1.0)
            found[self.columns[axis]] = np.append(values, np.nan)[own]
        return found

    def cells(self, axes: Iterable[int]) -> int:
        """Of the table of these columns."""
        return math.prod(self.sizes[axis] for axis in axes)

    def codes(self, places: Codes, axes: AxisPlaces) -> Codes:
        """The cell of each record in the table of some columns; of none, the one cell that there is."""
        if not axes:
            return np.zeros(len(places), dtype=np.intp)
        found = places[:, axes[0]]
        for axis in axes[1:]:
            found = found * self.sizes[axis] + places[:, axis]
        return found

    def counted(self, places: Codes, sets: Sequence[AxisPlaces]) -> list[Steps]:
        """How many records are in each cell of each table."""
        return [np.bincount(self.codes(places, axes), minlength=self.cells(axes)) for axes in sets]

    def check_sets(self, sets: Sequence[AxisPlaces]) -> int:
        """The cells of all tables together; refused, where a column is not there or twice, or cells are too many."""
        check_whole(ASKED, "number of tables", len(sets), 1, MOST_TABLES)
        for axes in sets:
            if not axes or len(set(axes)) != len(axes) or not set(axes) <= set(range(len(self.columns))):
                raise ParameterError(
                    ASKED, f"a table has the columns {axes}", f"Name some of {len(self.columns)} once."
                )
        whole = sum(map(self.cells, sets))
        check_size(ASKED, whole, MOST_CELLS)
        return whole


@recipe("coded_tables")
def coded_tables_of(
    schema: Schema,
    columns: tuple[str, ...],
    edges: tuple[tuple[float, ...], ...],
    sets: tuple[tuple[int, ...], ...],
    norm: Norm,
) -> BoundedSum:
    """One mark for each table, in the cell of the record; a missing value has a cell of its own.

    Parameters
    ----------
    columns, edges : tuple
        Public. The columns, and the edges of the cells of each number; none for a category.
    sets : tuple of tuples
        Public. The columns of each table, by their places.
    norm : {"l1", "l2"}
        Public. In which what a record adds is bounded.
    """
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    coding = TableCodes.of(schema, columns, edges)
    size = coding.check_sets(sets)
    starts = np.cumsum([0, *map(coding.cells, sets)])[:-1]
    length = float(len(sets)) if norm == "l1" else math.sqrt(len(sets)) * (1 + 2.0**-50)

    def of(records: Array) -> Array:
        places, marks = coding.places(records), np.zeros((len(records), size))
        for start, axes in zip(starts, sets, strict=True):
            marks[np.arange(len(records)), start + coding.codes(places, axes)] = 1.0
        return marks

    def total(records: Array) -> Array:
        return np.concatenate(coding.counted(coding.places(records), sets)).astype(np.float64)

    return BoundedSum(of, Bound(norm, length, nonnegative=True), columns, Grid(0), total)


@dataclass(frozen=True)
class TableDistances:
    """How far tables of counts are from what is expected of them: a score for each, which a curator alone can compute.

    The score of a table is its weight times the sum of the distances of all its cells, less a public penalty. A record
    is in one cell of each table, so it moves a score by its weight at most: the counts enter as whole numbers, and what
    is expected is cut to a grid, so that no rounding depends on the records.

    Parameters
    ----------
    codes : TableCodes
        Public. The cells.
    sets : tuple of tuples
        Public. The columns of each table, by their places.
    expected : array
        Public. What each cell of each table is expected to count, one table after another.
    weights, penalties : array of shape (tables,)
        Public. Of each table; weights are from 2**-10 to 1.
    """

    codes: TableCodes
    sets: tuple[AxisPlaces, ...]
    expected: Array
    weights: Array
    penalties: Array

    def __post_init__(self) -> None:
        size = self.codes.check_sets(self.sets)
        fits = self.expected.shape == (size,) and self.weights.shape == self.penalties.shape == (len(self.sets),)
        if not fits or not (np.abs(self.expected) < 2.0**40).all() or not (np.abs(self.penalties) < 2.0**40).all():
            raise ParameterError("table distances", "an expected count or a penalty is missing or too large")
        if not ((self.weights >= FINE.step) & (self.weights <= 1.0)).all():
            raise ParameterError("table distances", "a weight is not between 2**-10 and 1")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.codes.columns

    @property
    def size(self) -> int:
        return len(self.sets)

    @property
    def grid(self) -> Grid:
        return Grid(2 * FINE.exponent)

    @property
    def bound(self) -> Bound:
        """The most that a record moves a score."""
        return Bound("linf", float(FINE.values(self._weights).max()))

    @cached_property
    def _weights(self) -> Steps:
        return FINE.cut(self.weights).astype(np.int64)

    def answer(self, view: View) -> Answer:
        """All scores."""
        counts: list[Steps] = [np.zeros(self.codes.cells(axes), np.int64) for axes in self.sets]
        for batch in view.batches(self.columns):
            for own, more in zip(counts, self.codes.counted(self.codes.places(batch), self.sets), strict=True):
                own += more
        ends = np.cumsum([len(own) for own in counts])[:-1]
        expected = np.split(FINE.cut(self.expected).astype(np.int64), ends)
        pairs = zip(counts, expected, strict=True)
        distances = np.array([np.abs((own << -FINE.exponent) - public).sum() for own, public in pairs])
        steps = self._weights * distances - self.grid.cut(self.penalties).astype(np.int64)
        return Answer(steps, self.grid, self.bound.times(view.unit.rows), view.neighbors)
