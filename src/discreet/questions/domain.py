"""The axes of a table of counts: each column's cells, from the schema alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.formula import Formula
from discreet.core.grid import Array
from discreet.core.knob import check_one_of, check_size, check_whole
from discreet.core.schema import Number, Schema
from discreet.questions.histogram import MOST_BINS, SPELT_OUT, cells_of

Bins = int | Mapping[str, int]
"""How many cells a number is cut into: the same for every number, or by column."""

BINS = 10  # of a number that is not named
MOST_CELLS = 2**20
Codes = NDArray[np.intp]


def bins_of(schema: Schema, columns: Sequence[str], bins: Bins) -> tuple[int, ...]:
    """How many cells each of these columns is cut into, where it is a number; 0 where it is a category.

    Examples
    --------
    >>> from discreet.core.schema import Category
    >>> schema = Schema({"age": Number(0, 90), "sex": Category(("f", "m"))})
    >>> bins_of(schema, ("age", "sex"), {"age": 9})
    (9, 0)
    """
    if isinstance(columns, str):
        raise ParameterError("table of counts", f"columns is the single text {columns!r}", "Give a list of names.")
    if not columns or len(set(columns)) != len(columns):
        raise ParameterError("table of counts", f"the columns are {list(columns)}", "Name each column once.")
    numbers = {name for name in columns if isinstance(schema.columns.get(name), Number)}
    named = bins if isinstance(bins, Mapping) else dict.fromkeys(numbers, bins)
    if unknown := set(named) - numbers:
        raise ParameterError(
            "table of counts",
            f"bins are given for {', '.join(sorted(unknown))}, which is no number among its columns",
            "Give bins for numeric columns of the table.",
        )
    each = {**dict.fromkeys(numbers, BINS), **named}
    for name, most in each.items():
        check_whole(f"table of {name}", "bins", most, most=MOST_BINS)
    for name in set(columns) - numbers:
        schema.category(name)
    return tuple(int(each.get(name, 0)) for name in columns)


def shape_of(schema: Schema, columns: Sequence[str], bins: Sequence[int]) -> tuple[int, ...]:
    """How many cells each column has, with the bins that `bins_of` found."""
    return tuple(most or len(schema.category(name).values) for name, most in zip(columns, bins, strict=True))


def cells_along(schema: Schema, columns: Sequence[str], bins: Sequence[int]) -> tuple[int, ...]:
    """How many cells each column has, for bins that anybody may have asked for; what does not fit is refused."""
    numbers = [isinstance(schema.columns[name], Number) for name in schema.values(columns)]
    check_one_of("table", "number of bins", len(bins), (len(numbers),))
    for name, most, number in zip(columns, bins, numbers, strict=True):
        check_whole(f"table of {name}", "bins", most, int(number), MOST_BINS if number else 0)
    return shape_of(schema, columns, bins)


@dataclass(frozen=True)
class Axes:
    """The axes of a table: one for each column.

    Parameters
    ----------
    columns : tuple of str
        Public. The columns.
    labels : tuple of tuple of str
        Public. The names of each column's cells.
    edges : tuple of array or None
        Public. The edges of each number's cells.

    Examples
    --------
    >>> from discreet.core.schema import Category
    >>> schema = Schema({"age": Number(0, 90), "sex": Category(("f", "m"))})
    >>> axes = Axes.of(schema, ("age", "sex"), (3, 0))
    >>> axes.codes(np.array([[31.0, 0.0], [90.0, 1.0], [np.nan, 1.0]]))
    array([2, 5])
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    edges: tuple[Array | None, ...]

    @classmethod
    def listed(cls, schema: Schema, columns: Sequence[str], bins: Sequence[int]) -> Axes:
        """The axes of a table that has few enough cells to list them all."""
        check_size(f"table of {', '.join(columns)}", math.prod(cells_along(schema, columns, bins)), MOST_CELLS)
        return cls.of(schema, columns, bins)

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str], bins: Sequence[int]) -> Axes:
        """The axes of these columns, with the bins that `bins_of` found."""
        cells = [cells_of(schema, name, most) for name, most in zip(columns, bins, strict=True)]
        return cls(tuple(columns), tuple(labels for labels, _ in cells), tuple(edges for _, edges in cells))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(len(labels) for labels in self.labels)

    @property
    def size(self) -> int:
        """How many cells the table has."""
        return math.prod(self.shape)

    def places(self, records: Array) -> Codes:
        """The place of each record on each axis, for the records without a missing value."""
        whole = records[~np.isnan(records).any(axis=1)]
        places = np.empty(whole.shape, dtype=np.intp)
        for i, edges in enumerate(self.edges):
            places[:, i] = whole[:, i] if edges is None else np.searchsorted(edges[1:-1], whole[:, i], side="right")
        return places

    def codes(self, records: Array) -> Codes:
        """The cell of each record without a missing value, counted row after row."""
        return codes_of(self.places(records), self.shape)

    def formula(self) -> Formula | None:
        """The cell of a record as a formula; None where so many edges would make an engine slower than numpy."""
        if max((len(edges) - 1 for edges in self.edges if edges is not None), default=0) > SPELT_OUT:
            return None
        cell = Formula.constant(0)
        for i, (cells, edges) in enumerate(zip(self.shape, self.edges, strict=True)):
            place = Formula.category(i) if edges is None else Formula.column(i).place_among(edges[1:-1])
            cell = cell * cells + place
        return cell


def codes_of(places: Codes, shape: Sequence[int]) -> Codes:
    """Places on several axes as one number: digits of mixed radix.

    Examples
    --------
    >>> codes_of(np.array([[0, 1], [2, 0]]), (3, 2))
    array([1, 4])
    """
    codes = np.zeros(len(places), dtype=np.intp)
    for i, cells in enumerate(shape):
        codes = codes * cells + places[:, i]
    return codes
