"""Rows per value of a column, for values that are not public."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import KeyedAnswer
from discreet.core.checks import check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum, View
from discreet.questions.recipe import recipe
from discreet.questions.tables.contingency import ONE_CELL
from discreet.questions.tables.domain import MOST_CELLS, Codes, Domain, codes_of
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class KeyCounts:
    """How many rows hold each value of a column whose values are not public. A curator alone can ask this.

    Parameters
    ----------
    column : str
        Public. The column.
    """

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def answer(self, view: View) -> KeyedAnswer:
        """The values that occur, and how often each does."""
        return keyed(view.keys(self.column), view)


def keyed(batches: Iterable[dict[str, int]], view: View) -> KeyedAnswer:
    """Counts by key, batch by batch, added up."""
    counts: Counter[str] = Counter()
    for batch in batches:
        counts.update(batch)
    keys = tuple(sorted(counts))
    return KeyedAnswer(keys, np.array([counts[key] for key in keys], dtype=np.int64), view.unit.rows, view.neighbors)


@dataclass(frozen=True)
class CellCounts:
    """How many rows are in each cell of a table with far too many cells to list. A curator alone can ask this.

    Parameters
    ----------
    of : callable
        Rows in; the places of the cell of each row that is in one, on all axes of the table, out.
    columns : tuple of str
        Public. The columns that `of` reads, in order.
    """

    of: Callable[[Array], NDArray[np.intp]]
    columns: tuple[str, ...]

    def answer(self, view: View) -> KeyedAnswer:
        """The cells that hold a record, each named by its places, and how many it holds."""
        return keyed((self._counted(batch) for batch in view.batches(self.columns)), view)

    def _counted(self, records: Array) -> dict[str, int]:
        rows, counts = np.unique(self.of(records), axis=0, return_counts=True)
        return {" ".join(map(str, row)): int(count) for row, count in zip(rows.tolist(), counts, strict=True)}


@recipe("prefix_extension")
def prefix_extension_of(schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...], kept: Array) -> BoundedSum:
    """One mark for each record that is in a kept cell of the first columns, in its cell of the others.

    Parameters
    ----------
    columns, bins : tuple
        Public. The columns, and the number of cells of each numeric one; 0 for a category.
    kept : array of shape (cells, first columns)
        Public. The places of cells on the axes of the first columns, in lexicographic order.
    """
    domain = Domain.of(schema, columns, bins)
    shape = domain.shape
    _check(kept, shape)
    known, coarse = kept.astype(np.intp), kept.shape[1]
    inner = math.prod(shape[coarse:])
    size = len(known) * inner
    check_size("prefix extension", size, MOST_CELLS)

    def cells(records: Array) -> Codes:
        places = domain.places(records)
        outer = matched(places[:, :coarse], known, shape)
        return np.where(outer < 0, -1, outer * inner + codes_of(places[:, coarse:], shape[coarse:]))

    def of(records: Array) -> Array:
        own, marks = cells(records), np.zeros((len(records), size))
        whole = np.flatnonzero(~np.isnan(records).any(axis=1))
        marks[whole[own >= 0], own[own >= 0]] = 1.0
        return marks

    def total(records: Array) -> Array:
        own = cells(records)
        return np.bincount(own[own >= 0], minlength=size).astype(np.float64)

    return BoundedSum(of, ONE_CELL, columns, Grid(0), total)


def _check(kept: Array, shape: tuple[int, ...]) -> None:
    """Refuse what are not the places of cells, each once and in lexicographic order."""
    fits = kept.ndim == 2 and len(kept) >= 1 and kept.shape[1] <= len(shape)
    if fits and kept.shape[1] == 0:
        fits = len(kept) == 1
    elif fits:
        there = (kept == np.rint(kept)) & (kept >= 0) & (kept < shape[: kept.shape[1]])
        fits = bool(there.all()) and np.array_equal(np.unique(kept, axis=0), kept)
    if not fits:
        obstacle = f"the {kept.shape} array of kept cells does not list cells of a {shape[: kept.shape[-1]]} table"
        raise ParameterError("prefix extension", obstacle, "List the places of each cell once, in order.")


def matched(places: Codes, known: Codes, shape: tuple[int, ...]) -> Codes:
    """Which of the known rows, in lexicographic order, each row of places is; -1 if none.

    Column after column is compared, so that no code gets too large, however many cells there are.

    Examples
    --------
    >>> matched(np.array([[1, 2], [0, 0], [1, 0]]), np.array([[0, 0], [1, 2]]), (2, 3))
    array([ 1,  0, -1])
    """
    among, own = np.zeros(len(known), dtype=np.intp), np.zeros(len(places), dtype=np.intp)
    for axis in range(known.shape[1]):
        distinct, among = np.unique(among * shape[axis] + known[:, axis], return_inverse=True)
        codes = np.where(own < 0, -1, own * shape[axis] + places[:, axis])
        own = np.minimum(np.searchsorted(distinct, codes), len(distinct) - 1)
        own = np.where(distinct[own] == codes, own, -1)
    return own
