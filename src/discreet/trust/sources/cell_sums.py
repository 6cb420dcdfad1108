"""What the rows of each cell add up to, in DuckDB: cut towards zero row by row, and whole numbers from there on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.formula import Formula, Tally
from discreet.core.grid import Grid, Steps
from discreet.questions.question import BoundedSum

EXACT = 2.0**53
"""Sums of whole numbers below this are exact in float64, in any order."""
FEW = 2**8
"""So many cells have a type of their own in DuckDB, by which it groups without hashing."""
PLACE = re.compile(re.escape(Formula.category(0).sql).replace("c0", r"(\w+)"))
"""The place of a column's value in its list, and nothing else: it has a type for few of them."""


@dataclass(frozen=True)
class Addend:
    """What a record adds to one number of its cell, in steps that are not cut yet.

    Parameters
    ----------
    steps : Formula
        Public. How many.
    fixed : bool
        Public. Whether they are the same for every record that adds.
    floats : bool
        Public. Whether float64 may add them up, as none is negative: then no part of a sum is larger than the whole,
        and one that float64 could not hold is found out.
    where : str, optional
        Public. Which records add, if they all add the same.
    """

    steps: Formula
    fixed: bool
    floats: bool
    where: str | None = None

    @classmethod
    def of(cls, value: Formula, grid: Grid, names: Sequence[str] | None, *, nonnegative: bool) -> Addend:
        """What a value adds on a grid, over other names of the columns where some are given."""
        where, added = value.chosen or (None, value.sql)
        if where is not None and not Formula(added).places:
            own = where if names is None else Formula(where).named(names).sql
            return cls(Formula(added).in_steps(grid.exponent), True, False, own)
        fixed, steps = not value.places, value.in_steps(grid.exponent).unguarded
        return cls(steps if names is None else steps.named(names), fixed, nonnegative and not fixed)

    def sum(self, floats: bool) -> str:
        """What the rows of a cell add up to, in SQL."""
        cut = f"trunc({self.steps.sql})"
        if self.fixed:
            number = "count(*)" if self.where is None else f"count(*) FILTER (WHERE {self.where})"
            return f"{number} * CAST({cut} AS HUGEINT)"
        return f"sum({cut})" if floats and self.floats else f"sum(CAST({cut} AS BIGINT))"


@dataclass(frozen=True)
class CellSums:
    """Numbers of each cell to which records add.

    Parameters
    ----------
    cell : Formula
        Public. The cell of a record; one without adds nothing.
    cells : int
        Public. How many there are.
    addends : tuple of Addend
        Public. What a record adds to each number.
    """

    cell: Formula
    cells: int
    addends: tuple[Addend, ...]

    @classmethod
    def of(cls, question: BoundedSum, names: Sequence[str] | None = None) -> CellSums:
        """Those of a question, over c0, c1, ..., or over other names of its columns."""
        tally = question.tally
        assert tally is not None
        cell, nonnegative = tally.cell if names is None else tally.cell.named(names), question.bound.nonnegative
        addends = (Addend.of(value, question.grid, names, nonnegative=nonnegative) for value in tally.values)
        return cls(cell, tally.cells, tuple(addends))

    def added(self, rows: Any, *, floats: bool) -> Steps | None:
        """The sums of a relation's rows, a row for each cell; beyond 2**63 they wrap around, as in `exact_sum`.

        Parameters
        ----------
        rows : duckdb.DuckDBPyRelation
            The records.
        floats : bool
            Whether float64 adds where it may, which takes half the time. Then there is no result if it could not hold
            one of the sums.
        """
        where, cell = self.cell.chosen or (None, self.cell.sql)
        chosen = rows if where is None else rows.filter(where)
        sums = ", ".join(f"{one.sum(floats)} AS s{j}" for j, one in enumerate(self.addends))
        if (own := PLACE.fullmatch(cell)) is None:
            chosen = chosen.project(f"*, {self._typed(cell)} AS cell")
        by = "cell" if own is None else own[1]
        found = [row for row in chosen.aggregate(f"{by}, {sums}", by).fetchall() if row[0] is not None]
        by_floats = [j for j, one in enumerate(self.addends, 1) if floats and one.floats]
        if any(not (row[j] or 0) < EXACT for row in found for j in by_floats):
            return None
        total = np.zeros((self.cells, len(self.addends)), dtype=np.int64)
        for place, *numbers in found:
            total[place] = [(int(number or 0) + 2**63) % 2**64 - 2**63 for number in numbers]
        return total

    def _typed(self, cell: str) -> str:
        """A cell in a type for few of them."""
        return f"CAST({cell} AS {'UTINYINT' if self.cells <= FEW else 'INTEGER'})"


def with_columns(rows: Any, tally: Tally) -> Any:
    """A relation with the columns that a tally reads, where it computes them first."""
    for level in tally.before:
        rows = rows.project(", ".join(f"{one.sql} AS c{i}" for i, one in enumerate(level)))
    return rows


def tallied(rows: Any, question: BoundedSum, *, floats: bool) -> Steps | None:
    """What all rows of a relation add up to, in grid steps; see `CellSums.added`."""
    assert question.tally is not None
    found = CellSums.of(question).added(with_columns(rows, question.tally), floats=floats)
    return None if found is None else found.ravel()


def sums_by(rows: Any, tally: Tally, grid: Grid, by: str) -> Any:
    """A relation with what the rows of each cell, and of each value of something else, add up to in grid steps."""
    steps = [
        f"CAST(trunc({value.in_steps(grid.exponent).sql}) AS BIGINT) AS s{j}" for j, value in enumerate(tally.values)
    ]
    marked = with_columns(rows, tally).project(", ".join(["*", f"CAST({tally.cell.sql} AS INTEGER) AS cell", *steps]))
    sums = ", ".join([by, *(f"sum(s{j}) AS s{j}" for j in range(len(steps)))])
    return marked.filter("cell IS NOT NULL").aggregate(sums, by)
