"""Some cells of the first columns of a table, extended by further columns: one step of the search for frequent cells.

This is the prefix extension of the heavy hitters of Bassily, Nissim, Stemmer and Thakurta 2017 (TreeHist) and of Wang,
Li and Jha 2018 (PEM), where a prefix is a cell of the first columns.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.checks import check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.contingency import ONE_CELL
from discreet.questions.tables.domain import MOST_CELLS, Codes, Domain, codes_of
from discreet.schema.schema import Schema


@recipe("prefix_extension")
def prefix_extension_of(schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...], kept: Array) -> BoundedSum:
    """One mark for each record that is in a kept cell of the first columns, in its cell of the others.

    Parameters
    ----------
    schema : Schema
        Public.
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
