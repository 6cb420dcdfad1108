"""The cells of a table of counts, from the schema alone: the `Domain` of McKenna, Miklau and Sheldon's mbi (2021)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_size, check_whole, is_number
from discreet.core.errors import ParameterError
from discreet.core.formula import Formula, row_after_row
from discreet.core.grid import Array
from discreet.schema.schema import Category, Schema

Bins = int | Mapping[str, int] | tuple[int, ...]
"""The number of cells of a numeric column: the same for all, by column, or for each column in order (0: a category)."""

BINS = 10  # of a number that is not named
MOST_BINS, MOST_CELLS = 2**20, 2**20  # of a column, and of a table whose cells are all counted
SPELT_OUT = 32  # cells between edges that an engine still finds faster than numpy
FINEST = 2.0**-40  # width of a cell, in units of the larger bound, for which arithmetic is exact to one cell
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]
Condition = Mapping[str, Any]


@dataclass(frozen=True)
class Domain:
    """The cells of a table with one axis for each column. All of it public.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    axes : tuple of (tuple of str, or array)
        The values of each category, or the edges of each number's cells.
    named : mapping of str to tuple of str
        What the cells of some numbers are called, where their edges do not say it well.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> schema = Schema({"age": Number(0, 90), "sex": Category(("f", "m"))})
    >>> domain = Domain.of(schema, ("age", "sex"), {"age": 3})
    >>> domain.shape, domain.bins, domain.labels[0]
    ((3, 2), (3, 0), ('[0, 30)', '[30, 60)', '[60, 90)'))
    >>> domain.codes(np.array([[31.0, 0.0], [90.0, 1.0], [np.nan, 1.0]]))
    array([2, 5])
    >>> domain.where({"age": (30, 90), "sex": "f"}).reshape(domain.shape).astype(int)
    array([[0, 0],
           [1, 0],
           [1, 0]])
    """

    columns: tuple[str, ...]
    axes: tuple[tuple[str, ...] | Array, ...]
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str], bins: Bins) -> Domain:
        """The domain of these columns; each number is cut into cells of equal width between its bounds."""
        if isinstance(columns, str) or not columns or len(set(columns)) != len(columns):
            raise ParameterError("table of counts", f"the columns are {columns!r}", "Name each column once, in a list.")
        each = _bins(schema, schema.values(columns), bins)
        return cls(tuple(columns), tuple(_axis(schema, name, each.get(name)) for name in columns))

    @classmethod
    def listed(cls, schema: Schema, columns: Sequence[str], bins: Bins) -> Domain:
        """The same, if it has few enough cells to count all of them."""
        domain = cls.of(schema, columns, bins)
        check_size(f"table of {', '.join(columns)}", domain.size, MOST_CELLS)
        return domain

    @property
    def edges(self) -> tuple[Array | None, ...]:
        """The edges of each number's cells; None for a category."""
        return tuple(axis if isinstance(axis, np.ndarray) else None for axis in self.axes)

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            self.named.get(name) or (tuple(f"[{a:.4g}, {b:.4g})" for a, b in pairwise(axis)))
            if isinstance(axis, np.ndarray)
            else axis
            for name, axis in zip(self.columns, self.axes, strict=True)
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis) - isinstance(axis, np.ndarray) for axis in self.axes)

    @property
    def bins(self) -> tuple[int, ...]:
        """The number of cells of each numeric column; 0 for a category."""
        return tuple(len(axis) - 1 if isinstance(axis, np.ndarray) else 0 for axis in self.axes)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def project(self, columns: Sequence[str]) -> Domain:
        """The domain of some of the columns, in this order."""
        if isinstance(columns, str) or len(set(columns)) != len(columns) or not set(columns) <= set(self.columns):
            raise ParameterError(
                "marginal",
                f"the columns are {columns!r}",
                f"Name some of {', '.join(self.columns)}, each once, in a list.",
                "The release is as it was.",
            )
        axes = tuple(self.axes[self.columns.index(name)] for name in columns)
        return Domain(tuple(columns), axes, {name: self.named[name] for name in columns if name in self.named})

    def places(self, records: Array) -> Codes:
        """The place of each record on each axis, for the records without a missing value."""
        whole = records[~np.isnan(records).any(axis=1)]
        places = np.empty(whole.shape, dtype=np.intp)
        for i, edges in enumerate(self.edges):
            places[:, i] = whole[:, i] if edges is None else place_among(edges, whole[:, i])
        return places

    def codes(self, records: Array) -> Codes:
        """The cell of each record without a missing value, counted row after row."""
        if len(self.axes) == 1:  # spares a table of places
            values, edges = records[:, 0], self.edges[0]
            there = values[~np.isnan(values)]
            return there.astype(np.intp) if edges is None else place_among(edges, there)
        return codes_of(self.places(records), self.shape)

    def inside(self, records: Array) -> Codes:
        """The cell of each record; the number of cells, if it is in none: a value is missing, or beyond all edges."""
        inside = np.isfinite(records).all(axis=1)
        for i, edges in enumerate(self.edges):
            if edges is not None:
                inside &= (records[:, i] >= edges[0]) & (records[:, i] <= edges[-1])
        codes = np.full(len(records), self.size, dtype=np.intp)
        codes[inside] = self.codes(records[inside])
        return codes

    def formula(self) -> Formula | None:
        """The cell of a record as a formula; None where the number of edges would make an engine slower than numpy."""
        if max(self.bins) > SPELT_OUT:
            return None
        places = [
            Formula.category(i) if edges is None else Formula.column(i).place_among(edges[1:-1])
            for i, edges in enumerate(self.edges)
        ]
        return row_after_row(zip(places, self.shape, strict=True))

    def listable(self, asked: str, remedy: str) -> Domain:
        """The same, if it has few enough cells to count all of them."""
        if self.size > MOST_CELLS:
            obstacle = f"it has {' x '.join(map(str, self.shape))} cells, more than {MOST_CELLS}"
            raise ParameterError(asked, obstacle, remedy, size=self.size)
        return self

    def where(self, condition: Condition) -> Mask:
        """The cells, row after row, that a query counts.

        Parameters
        ----------
        condition : mapping of column to what it may be
            Public. A pair (lower, upper) of a number's edges, between which it lies; a category's value, or a list of
            values. Columns that are not named may be anything.
        """
        if unknown := set(condition) - set(self.columns):
            raise ParameterError("query", f"{sorted(unknown)} are not among its columns", f"There are {self.columns}.")
        inside = np.ones(self.shape, dtype=np.bool_)
        for axis, column in enumerate(self.columns):
            if column in condition:
                own = self._among(axis, condition[column])
                inside &= own.reshape([-1 if place == axis else 1 for place in range(len(self.columns))])
        return inside.ravel()

    def marginals(self, order: int) -> Iterator[dict[str, Any]]:
        """The conditions that fix this many columns to one cell each: all cells of all marginal tables."""
        for axes in combinations(range(len(self.columns)), order):
            for places in product(*(range(self.shape[axis]) for axis in axes)):
                yield {self.columns[axis]: self._only(axis, place) for axis, place in zip(axes, places, strict=True)}

    def _among(self, axis: int, wanted: Any) -> Mask:
        edges, column = self.edges[axis], self.columns[axis]
        if edges is not None:
            lower, upper = (_edge(column, edges, end) for end in _pair(column, wanted))
            cells = np.arange(len(edges) - 1)
            return (cells >= lower) & (cells < upper)
        values, labels = _values(wanted), self.labels[axis]
        if unknown := [value for value in values if value not in labels]:
            raise ParameterError("query", f"{column} cannot be {unknown!r:.60}", f"It is one of {labels}.")
        return np.isin(labels, values)

    def _only(self, axis: int, place: int) -> Any:
        edges = self.edges[axis]
        return self.labels[axis][place] if edges is None else (float(edges[place]), float(edges[place + 1]))


def _bins(schema: Schema, columns: Sequence[str], bins: Bins) -> dict[str, int]:
    """The number of cells of each numeric column; whoever asks may be hostile."""
    numbers = [name for name in columns if not isinstance(schema.columns[name], Category)]
    if isinstance(bins, tuple):
        check_whole("table of counts", "number of bins", len(bins), len(columns), len(columns))
        named = {name: one for name, one in zip(columns, bins, strict=True) if name in numbers or one != 0}
    else:
        named = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(numbers, bins)
    if unknown := set(named) - set(numbers):
        raise ParameterError(
            "table of counts",
            f"bins are given for {', '.join(sorted(unknown))}, which is no number among its columns",
            "Give bins for numeric columns of the table.",
        )
    each = {**dict.fromkeys(numbers, BINS), **named}
    for name, count in each.items():
        check_whole(f"table of {name}", "bins", count, most=MOST_BINS)
    return {name: int(count) for name, count in each.items()}


def _axis(schema: Schema, column: str, bins: int | None) -> tuple[str, ...] | Array:
    if bins is None:
        return schema.category(column).values
    number = schema.number(column)
    return np.linspace(number.lower, number.upper, bins + 1)


def _pair(column: str, wanted: Any) -> tuple[float, float]:
    """What a number lies between; whoever asks may be hostile."""
    ends = _values(wanted)
    if len(ends) != 2 or not all(map(is_number, ends)):
        obstacle = f"{column} is a number, and cannot be {wanted!r:.60}"
        raise ParameterError("query", obstacle, "Give a pair (lower, upper) of edges of its cells.")
    return float(ends[0]), float(ends[1])


def _values(wanted: Any) -> list[Any]:
    """One value, or those of a list."""
    return list(wanted) if isinstance(wanted, Collection) and not isinstance(wanted, str) else [wanted]


def _edge(column: str, edges: Array, wanted: float) -> int:
    place = int(np.abs(edges - wanted).argmin())
    if not math.isclose(edges[place], wanted, rel_tol=1e-9, abs_tol=1e-9 * float(edges[-1] - edges[0])):
        raise ParameterError(
            "query",
            f"{wanted} is not an edge of a cell of {column}",
            f"Its edges are {', '.join(f'{edge:.6g}' for edge in edges)}: choose one, or other bins.",
        )
    return place


def place_among(edges: Array, values: Array) -> Codes:
    """The cell of each value, none of which is missing; the outer cells have no outer ends.

    Between edges at equal distances a division finds the cell, or the one beside it, faster than a search does.

    Examples
    --------
    >>> place_among(np.array([0.0, 1.0, 2.0, 4.0]), np.array([-1.0, 1.0, 3.9, 4.0, np.inf]))
    array([0, 1, 2, 2, 2])
    """
    last, width = len(edges) - 2, float(edges[-1] - edges[0])
    even = np.ptp(np.diff(edges)) <= 2.0**-10 * width / (last + 1)
    if not even or width / (last + 1) < FINEST * float(np.abs(edges).max()):
        return np.searchsorted(edges[1:-1], values, side="right")
    with np.errstate(over="ignore"):
        places = np.clip((values - edges[0]) * ((last + 1) / width), 0, last).astype(np.intp)
    ends = np.concatenate([[np.nan], edges[1:-1], [np.nan]])  # no value is below or above these
    below, above = values < ends.take(places), values >= ends.take(places + 1)
    return np.asarray(places + (above.view(np.int8) - below.view(np.int8)))


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
