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
from discreet.microdata.synthetic.synthesis import SynthesisModel, total_of
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes

Edge = tuple[int, int]
ROUNDS, CLOSE = 30, 1e-4  # of fitting a table to the margins of its columns, and when that is done
CLEAR = 3.0  # deviations that tell missing values from none
MOST_NOISE = 2.0**36  # that is taken off a distance: where there is more, choices are made by chance anyway
LEAST = 1e-9  # of a share, so that no conditional share is undefined


def on_simplex(values: Array, total: float) -> Array:
    """The nearest numbers that are not negative and add up to a total.

    Examples
    --------
    >>> on_simplex(np.array([3.0, 1.0, -2.0]), 2.0)
    array([2., 0., 0.])
    """
    falling = np.sort(values.ravel())[::-1]
    over = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    last = int(np.flatnonzero(falling > over)[-1])
    return np.maximum(values - over[last], 0.0)


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

    A column is estimated by the mean of its own counts and of the sums of its tables, each weighted by the inverse of
    its variance; then a table is moved so that its sums agree with both columns. Negative counts are taken off by the
    nearest ones that are not, and the sums fitted again (Deming and Stephan 1940).

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
    def margins(self) -> tuple[Array, ...]:
        """How many records are in each cell of each column."""
        known = [own / self.one**2 for own in self.ones]
        weights = [1 / self.one**2 for _ in self.ones]
        for (a, b), table in self.pairs.items():
            for place, sums, others in ((a, table.sum(axis=1), table.shape[1]), (b, table.sum(axis=0), table.shape[0])):
                known[place] = known[place] + sums / (others * self.two**2)
                weights[place] += 1 / (others * self.two**2)
        return tuple(
            _positive(on_simplex(pruned(own / weight, 1 / math.sqrt(weight)), self.total), self.total)
            for own, weight in zip(known, weights, strict=True)
        )

    @cached_property
    def tables(self) -> Mapping[Edge, Array]:
        """How many records are in each cell of each pair that is an edge; their sums are the margins."""
        return {(a, b): _fitted(table, self.margins[a], self.margins[b]) for (a, b), table in self.pairs.items()}

    def measured(self, axes: AxisPlaces) -> AxisPlaces | None:
        edge = next((edge for edge in self.pairs if set(axes) <= set(edge)), None)
        return axes if edge is None and len(axes) == 1 else edge

    def table(self, axes: AxisPlaces) -> Array:
        if len(axes) == 1:
            return self.margins[axes[0]]
        first, second = axes
        return self.tables[first, second] if axes in self.pairs else self.tables[second, first].T

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

    def order(self) -> list[tuple[int, int | None]]:
        """All columns, each with the one before it that it depends on."""
        found: list[tuple[int, int | None]] = []
        seen: set[int] = set()
        for root in range(len(self.margins)):
            waiting: list[tuple[int, int | None]] = [(root, None)]
            while waiting:
                column, parent = waiting.pop()
                if column in seen:
                    continue
                seen.add(column)
                found.append((column, parent))
                ends = [(b, a) for a, b in self.pairs if a == column] + [(a, b) for a, b in self.pairs if b == column]
                waiting += sorted((other, own) for other, own in ends if other not in seen)
        return found

    def counted_out(self, rows: int, generator: np.random.Generator) -> Steps:
        found = np.zeros((rows, len(self.margins)), dtype=np.int64)
        for column, parent in self.order():
            table = self.margins[column][None, :] if parent is None else self.table((parent, column))
            groups = np.zeros(rows, np.int64) if parent is None else found[:, parent]
            found[:, column] = dealt_out(table, groups, generator)
        return found


def dealt_out(table: Array, groups: Steps, generator: np.random.Generator) -> Steps:
    """A cell for each record, given its group: each group's records are divided in the proportions of its row.

    The shares of a row are laid end to end, and records are put at equal distances on them, from a random start: so a
    cell gets its share of the records, rounded up or down. Which records get which cell is random.

    Examples
    --------
    >>> cells = dealt_out(np.array([[1.0, 3.0]]), np.zeros(8, np.int64), np.random.default_rng(1))
    >>> np.bincount(cells).tolist()
    [2, 6]
    """
    shares = np.cumsum(table + LEAST * table.sum() / table.size + 1e-300, axis=1)
    shares /= shares[:, -1:]
    mixed = generator.permutation(len(groups))
    mixed = mixed[np.argsort(groups[mixed], kind="stable")]
    own = groups[mixed]
    sizes = np.bincount(own, minlength=len(table))
    within = np.arange(len(groups)) - (np.cumsum(sizes) - sizes)[own]
    marks = np.minimum((within + generator.random(len(table))[own]) / sizes[own], 1 - 1e-12)
    ends = (shares + np.arange(len(table))[:, None]).ravel()
    cells = np.searchsorted(ends, own + marks, "right") - own * table.shape[1]
    found = np.empty(len(groups), np.int64)
    found[mixed] = np.clip(cells, 0, table.shape[1] - 1)
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


def _fitted(table: Array, first: Array, second: Array) -> Array:
    """A table that agrees with both margins and has no negative count; cells that a margin has none in take no part."""
    least = LEAST * first.sum()
    rows, columns = np.flatnonzero(first > 2 * LEAST * first.sum()), np.flatnonzero(second > 2 * LEAST * second.sum())
    found = np.full(table.shape, least / table.size)
    found[np.ix_(rows, columns)] = _agreeing(table[np.ix_(rows, columns)], first[rows], second[columns])
    return found


def _agreeing(table: Array, first: Array, second: Array) -> Array:
    table = table + ((first - table.sum(axis=1)) / table.shape[1])[:, None]
    table = table + ((second - table.sum(axis=0)) / table.shape[0])[None, :]
    return fitted(table, [first, second])


def fitted(table: Array, margins: Sequence[Array]) -> Array:
    """A table without negative counts, near this one, whose sums by each column are these.

    Examples
    --------
    >>> fitted(np.array([[5.0, -1.0], [2.0, 4.0]]), [np.array([4.0, 6.0]), np.array([6.0, 4.0])]).round(1)
    array([[4., 0.],
           [2., 4.]])
    """
    total = float(margins[0].sum())
    table = on_simplex(table, total) + LEAST * total / table.size
    for _ in range(ROUNDS):
        farthest = 0.0
        for axis, margin in enumerate(margins):
            factors = margin / table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
            table = table * factors.reshape([-1 if other == axis else 1 for other in range(table.ndim)])
            farthest = max(farthest, float(np.abs(factors - 1).max()))
        if farthest < CLOSE:
            break
    return table
