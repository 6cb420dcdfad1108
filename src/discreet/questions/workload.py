"""A public universe: the cells of a table of columns, and the queries that count them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.errors import ParameterError
from discreet.core.formula import Formula, Tally
from discreet.core.grid import Array, Grid
from discreet.core.knob import check_one_of, check_size, check_whole
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Category, Schema
from discreet.questions.histogram import ONE_CELL, SPELT_OUT, cells_of

MOST, MOST_WEIGHTS = 2**20, 2**25
HEAVIEST = 2.0**30  # of a weight
Condition = Mapping[str, Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Cells:
    """The cells of a table with one axis for each column: between two edges of a number, or a value of a category.

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
    >>> from discreet.core.schema import Category, Number
    >>> cells = Cells.of(Schema({"age": Number(0, 90), "sex": Category(("f", "m"))}), ("age", "sex"), bins=3)
    >>> cells.where({"age": (30, 90), "sex": "f"}).reshape(cells.shape).astype(int)
    array([[0, 0],
           [1, 0],
           [1, 0]])
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    edges: tuple[Array | None, ...]

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str], bins: int) -> Cells:
        """The cells of these columns; every number is cut into so many of equal width."""
        if not columns or len(set(columns)) != len(columns) or isinstance(columns, str):
            raise ParameterError("cells", f"the columns are {columns!r}", "Name each column once, at least one.")
        sizes = (len(one.values) if isinstance(one := schema.columns.get(name), Category) else bins for name in columns)
        check_whole("cells", "bins", bins, most=MOST)
        check_size("cells", math.prod(sizes), MOST)
        labels, edges = zip(*(cells_of(schema, column, bins) for column in columns), strict=True)
        return cls(tuple(columns), labels, edges)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(len(labels) for labels in self.labels)

    @property
    def size(self) -> int:
        """How many cells there are in all."""
        return math.prod(self.shape)

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

    def _among(self, axis: int, wanted: Any) -> Mask:
        labels, edges = self.labels[axis], self.edges[axis]
        if edges is not None:
            lower, upper = (_edge(self.columns[axis], edges, end) for end in wanted)
            return (np.arange(len(labels)) >= lower) & (np.arange(len(labels)) < upper)
        values = {wanted} if isinstance(wanted, str) else set(wanted)
        if unknown := values - set(labels):
            raise ParameterError(
                "query", f"{self.columns[axis]} cannot be {sorted(unknown)}", f"It is one of {labels}."
            )
        return np.isin(labels, sorted(values))

    def marginals(self, order: int) -> Iterator[dict[str, Any]]:
        """The conditions that fix this many columns to one cell each: all cells of all marginal tables."""
        for axes in combinations(range(len(self.columns)), order):
            for places in product(*(range(self.shape[axis]) for axis in axes)):
                yield {self.columns[axis]: self._only(axis, place) for axis, place in zip(axes, places, strict=True)}

    def _only(self, axis: int, place: int) -> Any:
        edges = self.edges[axis]
        return self.labels[axis][place] if edges is None else (float(edges[place]), float(edges[place + 1]))


def _edge(column: str, edges: Array, wanted: float) -> int:
    place = int(np.abs(edges - wanted).argmin())
    if not math.isclose(edges[place], wanted, rel_tol=1e-9, abs_tol=1e-9 * float(edges[-1] - edges[0])):
        raise ParameterError(
            "query",
            f"{wanted} is not an edge of a cell of {column}",
            f"Its edges are {', '.join(f'{edge:.6g}' for edge in edges)}: choose one, or other bins.",
        )
    return place


@recipe("table")
def table_of(schema: Schema, columns: tuple[str, ...], bins: int) -> BoundedSum:
    """One mark in the cell of each record; a record with a missing value adds nothing."""
    cells = Cells.of(schema, columns, bins)

    def of(records: Array) -> Array:
        return (_places(cells, records)[:, None] == np.arange(cells.size)).astype(np.float64)

    def total(records: Array) -> Array:
        return _marks(cells, records)

    return BoundedSum(of, ONE_CELL, tuple(columns), Grid(0), total, tally=_tally(cells))


@recipe("workload")
def workload_of(schema: Schema, columns: tuple[str, ...], bins: int, queries: Array | str, norm: Norm) -> BoundedSum:
    """What each record counts in each query: the column of its cell in the weights; `norm` measures its length.

    Queries are weights, or conditions as JSON, which is shorter.
    """
    cells = Cells.of(schema, columns, bins)
    check_one_of("workload", "norm", norm, ("l1", "l2"))
    weights = _conditions(cells, queries) if isinstance(queries, str) else _checked(cells, queries)
    bound = length_of(weights, norm)
    grid = Grid(0) if bool((weights == np.rint(weights)).all()) else Grid.of_radius(bound.radius)
    added = np.vstack([weights.T, np.zeros(len(weights))])

    def of(records: Array) -> Array:
        places = _places(cells, records)
        return added[np.where(np.isnan(places), cells.size, places).astype(np.intp)]

    def total(records: Array) -> Array:
        return _marks(cells, records) @ grid.cut(bound.clip(added[:-1]))

    return BoundedSum(of, bound, tuple(columns), grid, total)


def _conditions(cells: Cells, text: str) -> Array:
    """The weights of conditions in JSON."""
    try:
        conditions = [dict(one) for one in json.loads(text)]
        check_size("workload", len(conditions) * cells.size, MOST_WEIGHTS)
        return weights_of(cells, conditions)
    except (ValueError, TypeError, RecursionError) as why:
        raise ParameterError("workload", f"its queries are no conditions ({why})", "Name columns and values.") from why


def _checked(cells: Cells, weights: Array) -> Array:
    """The weights, if they are one for each query and cell, and neither negative nor too large to be added exactly."""
    check_size("workload", weights.size, MOST_WEIGHTS)
    fits = weights.ndim == 2 and weights.shape[1] == cells.size
    if not fits or weights.min() < 0 or weights.max() > HEAVIEST:
        obstacle = f"its weights are a {weights.shape} array, or some are not between 0 and {HEAVIEST:g}"
        raise ParameterError("workload", obstacle, f"Give a row of {cells.size} weights for each query.")
    return weights


def weights_of(cells: Cells, conditions: Sequence[Condition]) -> Array:
    """Which cells each condition counts, one row for each."""
    return np.array([cells.where(one) for one in conditions], dtype=np.float64).reshape(len(conditions), cells.size)


def length_of(weights: Array, norm: Norm) -> Bound:
    """The longest that the counts of one record in all queries can be; rounded up."""
    lengths = np.abs(weights).sum(axis=0) if norm == "l1" else np.sqrt(np.square(weights).sum(axis=0))
    return Bound(norm, float(lengths.max(initial=2.0**-20)) * (1 + 2.0**-40), nonnegative=True)


def _places(cells: Cells, records: Array) -> Array:
    """The cell of each record, nan where a value is missing."""
    place = np.zeros(len(records))
    for axis, edges in enumerate(cells.edges):
        values = records[:, axis]
        if edges is not None:
            inside = np.searchsorted(edges[1:-1], values, side="right").astype(np.float64)
            values = np.where(np.isnan(values), np.nan, inside)
        place = place * cells.shape[axis] + values
    return place


def _marks(cells: Cells, records: Array) -> Array:
    places = _places(cells, records)
    return np.bincount(places[~np.isnan(places)].astype(np.intp), minlength=cells.size).astype(np.float64)


def _tally(cells: Cells) -> Tally | None:
    """The same marks as a formula, where no edges are so many that an engine would be slower than numpy."""
    place = Formula.constant(0)
    for axis, edges in enumerate(cells.edges):
        if edges is not None and len(edges) > SPELT_OUT + 1:
            return None
        own = Formula.category(axis) if edges is None else Formula.column(axis).place_among(edges[1:-1])
        place = place * cells.shape[axis] + own
    return Tally(place, cells.size, (Formula.constant(1),))
