"""A tree of two-way tables that agree with one another, and records that are counted out of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.grid import Array, Steps

Edge = tuple[int, int]
ROUNDS, CLOSE = 30, 1e-4  # of fitting a table to both of its margins, and when that is done
CLEAR = 3.0  # deviations that tell missing values from none
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


def noise_in(table: Array, stddev: float) -> float:
    """What noise of this deviation adds to the distance of a table from another, on average."""
    return math.sqrt(2 / math.pi) * stddev * table.size


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

    def farthest(self, tables: Mapping[tuple[int, ...], Array], stddev: float) -> dict[Edge, Array]:
        """Those of these noisy tables that are farthest from independence, as far as they make no circle.

        Of a distance, what noise adds to it is taken off: a table of many cells is hardly worth it.
        """
        scores = {
            pair: np.abs(table - self.table(pair)).sum() - noise_in(table, stddev) for pair, table in tables.items()
        }
        parts, found = list(range(len(self.margins))), {}
        for pair in sorted(scores, key=lambda pair: -scores[pair]):
            first, second = pair
            if parts[first] != parts[second]:
                found[first, second] = tables[pair]
                parts = [parts[first] if part == parts[second] else part for part in parts]
        return found


@dataclass(frozen=True)
class TreeModel:
    """The distribution of records whose columns depend on one another along the edges of a tree alone.

    Parameters
    ----------
    margins : tuple of arrays
        How many records are in each cell of each column.
    pairs : mapping of (first, second) to array
        Noisy counts of the pairs of columns that are edges.
    """

    margins: tuple[Array, ...]
    pairs: Mapping[Edge, Array]

    @classmethod
    def fused(
        cls, ones: Sequence[Array], one: float, pairs: Mapping[Edge, Array], two: float, total: float
    ) -> TreeModel:
        """From noisy counts of columns and of pairs, by least squares.

        A column is estimated by the mean of its own counts and of the sums of its tables, each weighted by the inverse
        of its variance; then a table is moved so that its sums agree with both columns. Negative counts are taken off
        by the nearest ones that are not, and the sums fitted again (Deming and Stephan 1940).

        Parameters
        ----------
        ones, pairs : sequence of arrays, mapping of (first, second) to array
            The noisy counts.
        one, two : float
            The deviation of the noise of either.
        total : float
            The number of records.
        """
        known = [own / one**2 for own in ones]
        weights = [1 / one**2 for _ in ones]
        for (a, b), table in pairs.items():
            for place, sums, others in ((a, table.sum(axis=1), table.shape[1]), (b, table.sum(axis=0), table.shape[0])):
                known[place] = known[place] + sums / (others * two**2)
                weights[place] += 1 / (others * two**2)
        margins = tuple(
            _positive(on_simplex(_pruned(own / weight, weight), total), total)
            for own, weight in zip(known, weights, strict=True)
        )
        return cls(margins, pairs)

    @cached_property
    def tables(self) -> Mapping[Edge, Array]:
        """How many records are in each cell of each pair that is an edge; their sums are the margins."""
        return {edge: self.fitted(edge) for edge in self.pairs}

    def fitted(self, edge: Edge) -> Array:
        """One of these tables."""
        first, second = edge
        return _fitted(self.pairs[edge], self.margins[first], self.margins[second])

    def table(self, first: int, second: int) -> Array | None:
        """The table of two columns, in this order, if they are an edge."""
        if (first, second) in self.tables:
            return self.tables[first, second]
        other = self.tables.get((second, first))
        return None if other is None else other.T

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
        """Records, a cell for each column: as many in each cell as there should be, up to one."""
        found = np.zeros((rows, len(self.margins)), dtype=np.int64)
        for column, parent in self.order():
            if parent is None:
                table, groups = self.margins[column][None, :], np.zeros(rows, np.int64)
            else:
                known = self.table(parent, column)
                assert known is not None
                table, groups = known, found[:, parent]
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


def _pruned(margin: Array, weight: float) -> Array:
    """Without missing values, which are the last, where noise alone may be what is seen of them."""
    found = margin.copy()
    if found[-1] < CLEAR / math.sqrt(weight):
        found[-1] = -math.inf
    return found


def _positive(margin: Array, total: float) -> Array:
    """With a little in every cell."""
    more = margin + LEAST * total
    return np.asarray(more * (total / more.sum()))


def _fitted(table: Array, first: Array, second: Array) -> Array:
    """A table that agrees with both margins and has no negative count."""
    total = float(first.sum())
    table = table + ((first - table.sum(axis=1)) / table.shape[1])[:, None]
    table = table + ((second - table.sum(axis=0)) / table.shape[0])[None, :]
    table = on_simplex(table, total) + LEAST * total / table.size
    for _ in range(ROUNDS):
        table = table * (first / table.sum(axis=1))[:, None]
        factors = second / table.sum(axis=0)
        table = table * factors[None, :]
        if np.abs(factors - 1).max() < CLOSE:
            break
    return table
