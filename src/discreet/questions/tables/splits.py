"""Stretches of cells: how well a split of one tells classes apart, and the table that stretches make."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.checks import check_one_of, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.questions.question import BoundedSum, View
from discreet.questions.recipe import recipe
from discreet.questions.tables.coded_tables import TableCodes
from discreet.questions.tables.contingency import ONE_CELL
from discreet.questions.tables.domain import MOST_CELLS, Codes, codes_of
from discreet.schema.schema import Schema

ASKED, SCORED = "table of stretches", "scores of splits"
MOST_SPLITS = 2**16


def stretches_of(places: Codes, starts: tuple[int, ...]) -> Codes:
    """The stretch of each cell.

    Examples
    --------
    >>> stretches_of(np.array([0, 2, 5]), (0, 2, 4))
    array([0, 1, 2])
    """
    return np.searchsorted(np.array(starts), places, side="right") - 1


def check_starts(starts: tuple[int, ...], size: int) -> None:
    """Refuse starts that do not begin with the first cell and rise, inside a column of so many cells."""
    inside = len(starts) > 0 and starts[0] == 0 and starts[-1] < size
    if not inside or any(a >= b for a, b in pairwise(starts)):
        obstacle = f"stretches of {size} cells start at {starts!s:.80}"
        raise ParameterError(ASKED, obstacle, "Give rising numbers of cells, the first of them 0.")


@recipe("table_of_stretches")
def table_of_stretches_of(
    schema: Schema, columns: tuple[str, ...], edges: tuple[tuple[float, ...], ...], starts: tuple[tuple[int, ...], ...]
) -> BoundedSum:
    """One mark in the cell of each record, in a table whose axes are stretches of cells; missing values are the last.

    Parameters
    ----------
    columns, edges : tuple
        Public. The columns, and the edges of the cells of each number; none for a category.
    starts : tuple of tuples
        Public. The first cell of each stretch of each column.
    """
    coding = TableCodes.of(schema, columns, edges)
    check_one_of(ASKED, "number of starts", len(starts), (len(coding.sizes),))
    for own, size in zip(starts, coding.sizes, strict=True):
        for start in own:
            check_whole(ASKED, "start", start, least=0)
        check_starts(own, size)
    shape, cells = [len(own) for own in starts], 1
    for length in shape:
        cells *= length
        check_size(ASKED, cells, MOST_CELLS)

    def places(records: Array) -> Codes:
        found = coding.places(records)
        return codes_of(np.stack([stretches_of(found[:, i], own) for i, own in enumerate(starts)], axis=1), shape)

    def of(records: Array) -> Array:
        marks = np.zeros((len(records), cells))
        marks[np.arange(len(records)), places(records)] = 1.0
        return marks

    def total(records: Array) -> Array:
        return np.bincount(places(records), minlength=cells).astype(np.float64)

    return BoundedSum(of, ONE_CELL, coding.columns, Grid(0), total)


@dataclass(frozen=True)
class Split:
    """A stretch of a column's cells, from `first` to before `end`, that is cut before the cell `cut`."""

    column: int
    first: int
    cut: int
    end: int


@dataclass(frozen=True)
class SplitScores:
    """How far the two parts of each split differ in their classes: scores that a curator alone can compute.

    With counts L_c and R_c of class c in the parts, L and R of all classes and n = L + R, the score is half of the sum
    of abs(L_c - L (L_c + R_c) / n): how many records would have to change parts so that the class says nothing. Let p
    be the shares of classes in the stretch. A record more of class a in the left part moves the vector of L_c - L p_c
    by R / (n + 1) times e_a - p, which is at most 2 long in l1, so that the score moves by at most 1; the right part is
    alike. One that is replaced moves it no farther: by R / n times e_b - e_a, if it stays in the left part, by p - e_a
    if it goes to the right one, and by p - (R e_a + L e_b) / n if it also changes its class. Scores are exact
    fractions, floored to a grid, which is counted.

    Parameters
    ----------
    codes : TableCodes
        Public. The cells.
    target : int
        Public. The column of classes, by its place.
    splits : tuple of Split
        Public. What is scored.
    """

    codes: TableCodes
    target: int
    splits: tuple[Split, ...]

    def __post_init__(self) -> None:
        check_whole(SCORED, "target", self.target, least=0, most=len(self.codes.sizes) - 1)
        check_whole(SCORED, "number of splits", len(self.splits), most=MOST_SPLITS)
        for one in self.splits:
            check_whole(SCORED, "column", one.column, least=0, most=len(self.codes.sizes) - 1)
            if one.column == self.target or not 0 <= one.first < one.cut < one.end <= self.codes.sizes[one.column]:
                raise ParameterError(SCORED, f"there is no {one}", "Cut a stretch of cells inside it.")
        check_size(SCORED, sum(self.codes.cells((column, self.target)) for column in self._columns), MOST_CELLS)

    @property
    def _columns(self) -> list[int]:
        return sorted({one.column for one in self.splits})

    @property
    def columns(self) -> tuple[str, ...]:
        return self.codes.columns

    @property
    def size(self) -> int:
        return len(self.splits)

    @property
    def grid(self) -> Grid:
        return Grid(-20)

    @property
    def bound(self) -> Bound:
        """The most that a record moves a score, whether it is added, removed or replaced."""
        return Bound("linf", 1.0)

    def answer(self, view: View) -> Answer:
        """All scores."""
        sets = [(column, self.target) for column in self._columns]
        counts: list[Steps] = [np.zeros(self.codes.cells(axes), np.int64) for axes in sets]
        for batch in view.batches(self.columns):
            for own, more in zip(counts, self.codes.counted(self.codes.places(batch), sets), strict=True):
                own += more
        sums = {
            column: np.cumsum(own.reshape(-1, self.codes.sizes[self.target]), axis=0).astype(object)
            for column, own in zip(self._columns, counts, strict=True)
        }
        steps = np.array([self._steps(sums[one.column], one) for one in self.splits], dtype=np.int64)
        bound = self.bound.times(view.unit.rows)  # for both relations: `ADD_REMOVE` is the one that does not double it
        return Answer(steps, self.grid, bound, Neighbors.ADD_REMOVE, slack=1.0)

    def _steps(self, sums: np.ndarray[tuple[int, ...], np.dtype[np.object_]], split: Split) -> int:
        """A score in steps of the grid, floored; of whole numbers of any size, so that nothing is rounded before."""
        before = sums[split.first - 1] if split.first else 0 * sums[0]
        left, right = sums[split.cut - 1] - before, sums[split.end - 1] - sums[split.cut - 1]
        apart = int(np.abs(left * right.sum() - right * left.sum()).sum())
        return (apart << (-self.grid.exponent - 1)) // max(int(left.sum() + right.sum()), 1)
