"""A tree of two-way tables that agree with one another, and records that are counted out of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.dealt_records import LEAST, alike, dealt_out
from discreet.microdata.synthetic.nearest_tables import Edge, TreeTables, on_simplex
from discreet.microdata.synthetic.synthesis import SynthesisModel, total_of
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes

ROUNDS, CLOSE = 30, 1e-4  # of fitting a table to the margins of its columns, and when that is done
CLEAR = 3.0  # deviations that tell missing values from none
MOST_NOISE = 2.0**36  # that is taken off a distance: where there is more, choices are made by chance anyway


def noise_in(cells: int, stddev: float) -> float:
    """What noise of this deviation adds to the distance of a table of so many cells from another, on average."""
    return min(math.sqrt(2 / math.pi) * stddev * cells, MOST_NOISE)


@dataclass(frozen=True)
class Independence:
    """What tables would be, were all columns independent of one another.

    Parameters
    ----------
    margins : tuple of arrays
        How many records are in each cell of each column.
    total : float
        The number of records.
    """

    margins: tuple[Array, ...]
    total: float

    @classmethod
    def of(cls, ones: Sequence[Array], total: float) -> Independence:
        """From noisy counts of columns."""
        return cls(tuple(on_simplex(own, total) for own in ones), total)

    def table(self, pair: tuple[int, ...]) -> Array:
        """The table of two columns."""
        first, second = pair
        return np.outer(self.margins[first], self.margins[second]) / self.total

    def farthest(
        self, tables: Mapping[AxisPlaces, Array], stddev: float, more: Mapping[AxisPlaces, float]
    ) -> dict[Edge, Array]:
        """Those of these noisy tables that are farthest from independence, as far as they make no circle.

        Of a distance, what noise adds to it is taken off: a table of many cells is hardly worth it. Some tables have
        more added to it.
        """
        scores = {
            pair: np.abs(table - self.table(pair)).sum() - noise_in(table.size, stddev) + more.get(pair, 0.0)
            for pair, table in tables.items()
        }
        parts, found = list(range(len(self.margins))), {}
        for pair in sorted(scores, key=lambda pair: -scores[pair]):
            first, second = pair
            if parts[first] != parts[second]:
                found[first, second] = tables[pair]
                parts = [parts[first] if part == parts[second] else part for part in parts]
        return found


@dataclass(frozen=True)
class TreeModel(SynthesisModel):
    """The distribution of records whose columns depend on one another along the edges of a tree alone.

    Records are counted out of tables that agree with one another and have no negative count, nearest to the noisy ones
    when these are drawn to independence (`TreeTables`). What a query reads are the nearest ones that agree: their
    counts are right on average, and the noise alone moves them.

    Parameters
    ----------
    codes : TableCodes
        The cells of the columns.
    ones : tuple of arrays
        Noisy counts of each column.
    pairs : mapping of (first, second) to array
        Noisy counts of the pairs of columns that are edges.
    one, two : float
        The deviation of the noise of either.
    total : float
        The number of records, public or noisy.
    size : float, optional
        The number of records, where it is public.
    """

    codes: TableCodes
    ones: tuple[Array, ...]
    pairs: Mapping[Edge, Array]
    one: float
    two: float
    total: float
    size: float | None = None

    @cached_property
    def noisy(self) -> TreeTables:
        """What was counted."""
        return TreeTables(self.ones, self.pairs, self.one, self.two)

    @cached_property
    def unbiased(self) -> TreeTables:
        """The nearest tables that agree."""
        return self.noisy.agreeing(self.total)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """How many cells of each column take part: all but those of missing values that noise alone may show."""
        both = zip(self.unbiased.ones, self.noisy.deviations, strict=True)
        return tuple(len(own) - bool(np.isneginf(pruned(own, deviation)[-1])) for own, deviation in both)

    @cached_property
    def shrunk(self) -> TreeTables:
        """Of the cells that have records, the tables that agree, drawn to independence."""
        ones = tuple(own[:size] for own, size in zip(self.ones, self.kept, strict=True))
        pairs = {(a, b): table[: self.kept[a], : self.kept[b]] for (a, b), table in self.pairs.items()}
        return TreeTables(ones, pairs, self.one, self.two).shrunk(self.total)

    @cached_property
    def _nearest(self) -> TreeTables:
        """The nearest of these that have no negative count."""
        return self.shrunk.nearest(self.total)

    @cached_property
    def margins(self) -> tuple[Array, ...]:
        """How many records are in each cell of each column."""
        both = zip(self._nearest.ones, self.ones, strict=True)
        return tuple(_positive(_padded(on_simplex(own, self.total), all_.shape), self.total) for own, all_ in both)

    @cached_property
    def tables(self) -> Mapping[Edge, Array]:
        """How many records are in each cell of each pair that is an edge; their sums are the margins."""
        return {
            (a, b): scaled(_padded(table, self.pairs[a, b].shape), [self.margins[a], self.margins[b]])
            for (a, b), table in self._nearest.pairs.items()
        }

    @cached_property
    def pair_tables(self) -> dict[AxisPlaces, Array]:
        """How many records are in each cell of each pair of columns, in the order of `itertools.combinations`."""
        found: dict[AxisPlaces, Array] = {}
        for first, margin in enumerate(self.margins):
            tables = {first: np.diag(margin)}
            for column, parent in self.walk(first):
                if parent is not None:
                    own = self._oriented(parent, column) / self.margins[parent][:, None]
                    tables[column] = tables[parent] @ own
            for other in range(first + 1, len(self.margins)):
                found[first, other] = tables.get(other, np.outer(margin, self.margins[other]) / self.total)
        return found

    def counted_again(self, pairs: Mapping[Edge, Array], ones: Sequence[Array], stddev: float) -> TreeModel:
        """With other counts of the same pairs, and of columns where there are any, weighted by inverse variances."""
        share = self.two**2 / (self.two**2 + stddev**2)
        means = {edge: (1 - share) * own + share * pairs[edge] for edge, own in self.pairs.items()}
        found = dataclasses.replace(self, pairs=means, two=stddev * math.sqrt(share))
        if not ones:
            return found
        share = self.one**2 / (self.one**2 + stddev**2)
        columns = tuple((1 - share) * own + share * other for own, other in zip(self.ones, ones, strict=True))
        total = total_of(columns, self.size)
        return dataclasses.replace(found, ones=columns, one=stddev * math.sqrt(share), total=total)

    def _oriented(self, first: int, second: int) -> Array:
        """The table of an edge, whichever of its columns comes first."""
        return self.tables[first, second] if (first, second) in self.pairs else self.tables[second, first].T

    def measured(self, axes: AxisPlaces) -> AxisPlaces | None:
        edge = next((edge for edge in self.pairs if set(axes) <= set(edge)), None)
        return axes if edge is None and len(axes) == 1 else edge

    def table(self, axes: AxisPlaces) -> Array:
        if len(axes) == 1:
            return self.unbiased.ones[axes[0]]
        first, second = axes
        return self.unbiased.pairs[first, second]

    def likelihood(self, places: Steps) -> Array:
        found = np.zeros(len(places))
        degrees = np.bincount(np.array(list(self.pairs)).ravel().astype(np.intp), minlength=len(self.margins))
        for (a, b), table in self.tables.items():
            found += np.log(table[places[:, a], places[:, b]])
        for place, (margin, degree) in enumerate(zip(self.margins, degrees, strict=True)):
            found -= (degree - 1) * np.log(margin[places[:, place]])
        return found

    def again(self, generator: np.random.Generator) -> TreeModel:
        ones = tuple(own + generator.normal(0, self.one, own.shape) for own in self.margins)
        pairs = {edge: table + generator.normal(0, self.two, table.shape) for edge, table in self.tables.items()}
        return dataclasses.replace(self, ones=ones, pairs=pairs, total=total_of(ones, self.size))

    def to_notes(self) -> dict[str, Any]:
        return {
            "ones": list(self.ones),
            "pairs": [list(edge) for edge in self.pairs],
            "tables": list(self.pairs.values()),
            "noise": [self.one, self.two, self.total, self.size],
        }

    @classmethod
    def of_notes(cls, codes: TableCodes, notes: Mapping[str, Any]) -> TreeModel:
        pairs = {(a, b): table for (a, b), table in zip(notes["pairs"], notes["tables"], strict=True)}
        return cls(codes, tuple(notes["ones"]), pairs, *notes["noise"])

    def walk(self, start: int) -> list[tuple[int, int | None]]:
        """All columns that depend on one, the nearest first, each with the one before it that it depends on."""
        found: list[tuple[int, int | None]] = [(start, None)]
        for column, parent in found:
            found += [(other, column) for other in self._neighbors[column] if other != parent]
        return found

    @cached_property
    def _neighbors(self) -> list[list[int]]:
        """The columns that each has a table with."""
        found: list[list[int]] = [[] for _ in self.ones]
        for first, second in self.pairs:
            found[first].append(second)
            found[second].append(first)
        return found

    def order(self) -> list[tuple[int, int | None]]:
        """All columns, each with the one before it that it depends on."""
        found: dict[int, int | None] = {}
        for root in range(len(self.margins)):
            found.update({} if root in found else dict(self.walk(root)))
        return list(found.items())

    def counted_out(self, rows: int, generator: np.random.Generator) -> Steps:
        found = np.zeros((rows, len(self.margins)), dtype=np.int64, order="F")
        done: set[int] = set()
        for column, parent in self.order():
            if parent is None:
                found[:, column] = dealt_out(self.margins[column][None, :], np.zeros(rows, np.int64), generator)
            else:
                near = [other for other, _ in self.walk(parent) if other in done - {parent}]
                table = self._oriented(parent, column)
                codes = alike(found, self.codes.sizes, [parent, *near])
                found[:, column] = dealt_out(table, found[:, parent], generator, codes)
            done.add(column)
        return found


def pruned(margin: Array, stddev: float) -> Array:
    """Without missing values, which are the last, where noise alone may be what is seen of them."""
    found = margin.copy()
    if found[-1] < CLEAR * stddev:
        found[-1] = -math.inf
    return found


def _positive(margin: Array, total: float) -> Array:
    """With a little in every cell."""
    more = margin + LEAST * total
    return np.asarray(more * (total / more.sum()))


def _padded(counts: Array, shape: tuple[int, ...]) -> Array:
    """With no records in the cells that were left out, which are the last."""
    return np.pad(counts, [(0, whole - own) for whole, own in zip(shape, counts.shape, strict=True)])


def fitted(table: Array, margins: Sequence[Array]) -> Array:
    """A table without negative counts, near this one, whose sums by each column are these.

    Examples
    --------
    >>> fitted(np.array([[5.0, -1.0], [2.0, 4.0]]), [np.array([4.0, 6.0]), np.array([6.0, 4.0])]).round(1)
    array([[4., 0.],
           [2., 4.]])
    """
    return scaled(on_simplex(table, float(margins[0].sum())), margins)


def scaled(table: Array, margins: Sequence[Array]) -> Array:
    """Counts times a factor for each cell of each column, so that their sums are these (Deming and Stephan 1940)."""
    table = table + LEAST * float(margins[0].sum()) / table.size
    for _ in range(ROUNDS):
        farthest = 0.0
        for axis, margin in enumerate(margins):
            factors = margin / table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
            table = table * factors.reshape([-1 if other == axis else 1 for other in range(table.ndim)])
            farthest = max(farthest, float(np.abs(factors - 1).max()))
        if farthest < CLOSE:
            break
    return table
