"""Questions about what a function that nobody trusts makes of each record."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.questions.fixed_rows import FixedRows
from discreet.questions.question import BoundedSum, View
from discreet.schema.schema import Category, Schema

Isolated = Callable[[Callable[[Array], Any], Sequence[Array], int, float, str], list[Array | None]]
"""A function, blocks, how many numbers it gives, a time and a form in; what it gives for each block out."""


@dataclass(frozen=True)
class RecordMap:
    """What a function gives for each record: up to so many rows of numbers, and nothing else of it.

    Parameters
    ----------
    function : callable
        One record in, as an array of numbers; numbers out, as many as there are new columns, or rows of them.
    columns : tuple of str
        Public. What the function sees, in order.
    kept : tuple of str
        Public. Columns that its rows have besides the new ones, as they are in the record.
    after : Schema
        Public. The kept columns, then the new ones: what is outside of their bounds is moved there.
    rows_out : int
        Public. The most rows that come of one record; more are left out.
    places : int
        Public. How many records are looked at, and how long that takes; more are left out.
    seconds : float
        Public. Of processor time, for one record.
    form : {"full", "process"}
        Public. What the function is kept from; see `discreet.trust.isolation`.
    lines : int
        Public. How many records are computed at a time.
    """

    function: Callable[[Array], Any]
    columns: tuple[str, ...]
    kept: tuple[str, ...]
    after: Schema
    rows_out: int
    places: int
    seconds: float
    form: Literal["full", "process"]
    lines: int

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it takes of a record."""
        return (*self.columns, *self.kept)

    @cached_property
    def width(self) -> int:
        """How many numbers a row has that are new."""
        return len(self.after.columns) - len(self.kept)

    def of(self, records: Array, isolated: Isolated) -> Array:
        """All rows of some records, each computed by itself; the same time whatever and how many they are.

        Parameters
        ----------
        records : array of shape (n, columns and kept)
            The records.
        isolated : callable
            What keeps records from one another.
        """
        seen, width = self._seen(records), len(self.columns)
        blocks = [seen[i : i + 1, :width] for i in range(len(seen))]
        blocks += [np.full((1, width), np.nan)] * (self.places - len(seen))
        total = self.seconds * -(-len(blocks) // self.lines)
        found = isolated(FixedRows(self.function, self.rows_out, self.width), blocks, self._size, total, self.form)
        return self._rows(seen[:, width:], found[: len(seen)])

    def _seen(self, records: Array) -> Array:
        """As many records as there are places, in whatever order they come: one more drives out one other at most.

        A digest of what a record holds says which, so that no values are preferred; those that are equal are alike.
        """
        if len(records) <= self.places:
            return records
        digests = [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in records + 0.0]
        return records[sorted(range(len(records)), key=digests.__getitem__)[: self.places]]

    @property
    def _size(self) -> int:
        return self.rows_out * self.width

    def _rows(self, kept: Array, found: Sequence[Array | None]) -> Array:
        nothing = np.full(self._size, np.nan)
        new = np.array([nothing if one is None else one for one in found]).reshape(-1, self.rows_out, self.width)
        rows = np.concatenate([np.repeat(kept[:, None], self.rows_out, axis=1), self._listed(new)], axis=2)
        there = np.isfinite(rows[:, :, kept.shape[1] :]).any(axis=2)
        there[:, 0] = True  # a record for which the function fails is one whose numbers are missing
        return rows[there]

    def _listed(self, new: Array) -> Array:
        """The same numbers, nan where one is the place of no value in a list."""
        for column, kind in enumerate(list(self.after.columns.values())[len(self.kept) :]):
            if isinstance(kind, Category):
                own = new[:, :, column]
                own[~np.isin(own, np.arange(len(kind.values)))] = np.nan
        return new


@dataclass(frozen=True)
class OfMapped:
    """A sum over the rows that a function makes of the records. A curator alone can ask this.

    Parameters
    ----------
    question : BoundedSum
        Public. About these rows.
    by : RecordMap
        Public. How they come of the records.
    mapped : callable
        The view of these rows, from that of the records; its unit has as many rows as differ between neighbors.
    """

    question: BoundedSum
    by: RecordMap
    mapped: Callable[[View], View]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.by.reads

    @property
    def size(self) -> int:
        return self.question.size

    @property
    def grid(self) -> Grid:
        return self.question.grid

    @property
    def bound(self) -> Bound:
        return self.question.bound

    def answer(self, view: View) -> Answer:
        """The exact sum over the rows; where records come and go, one may drive another out, and signs are either."""
        question, rows = self.question, self.mapped(view)
        bound = question.bound
        if view.neighbors is Neighbors.ADD_REMOVE:
            bound = dataclasses.replace(bound, nonnegative=False)
        return Answer(rows.sum(question), question.grid, bound.times(rows.unit.rows), view.neighbors)
