"""The tables of pairs that are nearest to noisy ones, agree with one another and have no negative count."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.likely_counts import likely_counts

Edge = tuple[int, int]
LEAST_SQUARES = 1e-3  # so that no share of nothing is taken
STEPS = 12  # of the method of multipliers: more of them moved no distance on made-up networks


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


def drawn_to(expected: Array, table: Array, noise: float) -> Array:
    """A noisy table, drawn to what is expected of it by the share of noise in their squared distance.

    Examples
    --------
    >>> drawn_to(np.array([2.0, 2.0]), np.array([4.0, 0.0]), noise=2.0)
    array([3.5, 0.5])
    """
    off = table - expected
    return np.asarray(expected + beyond(float(np.square(off).sum()), noise) * off)


def drawn_by_direction(expected: Array, table: Array, variance: float) -> Array:
    """A noisy table, drawn to what is expected of it: in each singular direction apart, by the share of noise in it.

    Dependences lie in few directions, and noise in all of them alike.

    Examples
    --------
    >>> drawn_by_direction(np.full((2, 2), 2.0), np.array([[4.0, 0.0], [0.0, 4.0]]), variance=4.0)
    array([[3.5, 0.5],
           [0.5, 3.5]])
    """
    first, values, second = np.linalg.svd(table - expected, full_matrices=False)
    noise = variance * (max(table.shape) - 1)  # of each direction, where none is in the sums
    shares = np.array([beyond(value**2, noise) for value in values.tolist()])
    return np.asarray(expected + (first * (values * shares)) @ second)


def beyond(squares: float, noise: float) -> float:
    """The share of a squared distance that is no noise."""
    return max(1 - noise / max(squares, LEAST_SQUARES), 0.0)


def _column(counts: Array, deviation: float, total: float) -> Array:
    """Counts of a column that are not negative: the mean of the nearest ones, and of those that are likely."""
    likely = likely_counts(counts, np.full(len(counts), total / len(counts)), deviation)
    return (on_simplex(counts, total) + likely * (total / likely.sum())) / 2


@dataclass(frozen=True)
class Margins:
    """Which counts add up to which: tables one after another, so that a few operations on long arrays move them all.

    A margin is the sums of a pair for the cells of one of its columns; each pair has two, the first column's first.

    Parameters
    ----------
    cells : array of shape (2, cells of all pairs)
        For each count of a pair, the sum that it is part of in either margin.
    owners : array
        For each sum, the cell of a column that it counts; columns lie one after another too.
    columns : array
        For each cell of a column, the column.
    starts : array
        Where each margin starts.
    lengths, others : array
        How many sums each margin has, and of how many counts each sum is.
    """

    cells: Steps
    owners: Steps
    columns: Steps
    starts: Steps
    lengths: Steps
    others: Steps

    @classmethod
    def of(cls, sizes: tuple[int, ...], edges: tuple[Edge, ...]) -> Margins:
        """Of columns with so many cells, and pairs of them."""
        lengths = np.array([sizes[column] for edge in edges for column in edge], dtype=np.int64)
        others = np.array([sizes[column] for edge in edges for column in reversed(edge)], dtype=np.int64)
        starts, firsts = np.cumsum(lengths) - lengths, np.cumsum(sizes) - sizes
        cells, owners = [np.empty((2, 0), np.int64)], [np.empty(0, np.int64)]
        for place, (a, b) in enumerate(edges):
            one, two = np.indices((sizes[a], sizes[b])).reshape(2, -1)
            cells.append(np.stack([one + starts[2 * place], two + starts[2 * place + 1]]))
            owners += [firsts[a] + np.arange(sizes[a]), firsts[b] + np.arange(sizes[b])]
        columns = np.repeat(np.arange(len(sizes)), sizes)
        return cls(np.hstack(cells), np.concatenate(owners), columns, starts, lengths, others)

    def sums(self, pairs: Array) -> Array:
        """Of all margins."""
        one, two = (np.bincount(own, pairs, len(self.owners)) for own in self.cells)
        return np.asarray(one + two)

    def agreeing(self, ones: Array, pairs: Array, total: float, one: float, variances: Array) -> tuple[Array, Array]:
        """The nearest counts whose sums agree; see `TreeTables.agreeing`."""
        found, sizes = self.sums(pairs), np.bincount(self.columns)
        known = np.repeat(1 / (self.others * np.repeat(variances, 2)), self.lengths)
        weights = one**-2 + np.bincount(self.owners, known, len(ones))
        ones = (ones * one**-2 + np.bincount(self.owners, known * found, len(ones))) / weights
        ones += ((total - np.bincount(self.columns, ones)) / sizes)[self.columns]
        missing = ones[self.owners] - found
        if len(pairs):
            means = np.add.reduceat(missing, self.starts) / self.lengths
            means[::2] = 0.0  # what the whole table lacks is added with its first margin
            missing -= np.repeat(means, self.lengths)
        missing /= np.repeat(self.others, self.lengths)
        return ones, pairs + missing[self.cells[0]] + missing[self.cells[1]]


@dataclass(frozen=True)
class TreeTables:
    """Counts of columns, and of pairs of columns.

    Parameters
    ----------
    ones : tuple of arrays
        Counts of each column.
    pairs : mapping of (first, second) to array
        Counts of pairs of columns.
    one, two : float
        The deviation of the noise of either.
    others : mapping of (first, second) to float
        The deviation of the noise of those pairs for which it is another one.
    """

    ones: tuple[Array, ...]
    pairs: Mapping[Edge, Array]
    one: float
    two: float
    others: Mapping[Edge, float] = field(default_factory=dict)

    @property
    def deviations(self) -> list[float]:
        """Of each column, by its own counts and by the sums of its tables."""
        known = [1 / self.one**2 for _ in self.ones]
        for edge, table in self.pairs.items():
            for column, others in zip(edge, reversed(table.shape), strict=True):
                known[column] += 1 / (others * self._variance(edge))
        return [1 / math.sqrt(weight) for weight in known]

    def _variance(self, edge: Edge) -> float:
        return self.others.get(edge, self.two) ** 2

    @cached_property
    def _margins(self) -> Margins:
        return Margins.of(tuple(map(len, self.ones)), tuple(self.pairs))

    def agreeing(self, total: float) -> TreeTables:
        """The nearest tables whose sums agree, and are `total`: counts may be negative, and are right on average.

        A column is the mean of its own counts and of the sums of its tables, each weighted by the inverse of its
        variance. Then each table is moved, evenly along the other column, so that its sums are these. That is the
        least-squares estimate, since the means, columns and interactions of pairs are orthogonal to one another.
        """
        return self._split(self._agreeing(self._counts, total))

    def shrunk(self, total: float) -> TreeTables:
        """The nearest tables that agree, each drawn to independence of its columns, where noise may be what is seen.

        A table is the mean of two estimates: of its counts by themselves (`likely_counts`), and of the directions in
        which they lie (`drawn_by_direction`). Columns are drawn to equal counts in part.
        """
        agreed = self.agreeing(total)
        ones = tuple(
            _column(own, deviation, total) for own, deviation in zip(agreed.ones, self.deviations, strict=True)
        )
        pairs = {}
        for (a, b), table in agreed.pairs.items():
            expected, variance = np.outer(ones[a], ones[b]) / total, self._variance((a, b))
            likely = likely_counts(table, expected, math.sqrt(variance))
            pairs[a, b] = (likely + drawn_by_direction(expected, table, variance)) / 2
        return dataclasses.replace(agreed, ones=ones, pairs=pairs)

    def dependence(self, total: float) -> float:
        """How much of the squared distances of the pairs from independence is no noise, in the middle of all."""
        agreed, shares = self.agreeing(total), []
        for (a, b), table in agreed.pairs.items():
            noise = self._variance((a, b)) * math.prod(size - 1 for size in table.shape)
            apart = table - np.outer(agreed.ones[a], agreed.ones[b]) / total
            shares.append(beyond(float(np.square(apart).sum()), noise))
        return float(np.mean(shares))

    def nearest(self, total: float) -> TreeTables:
        """The nearest tables whose sums agree, but for what rounding leaves, and that have no negative count.

        By the alternating direction method of multipliers (Boyd et al. 2011, section 3): tables that agree and tables
        without negative counts are drawn to one another, each by its closed formula, with the weights of the noise.
        """
        own = self._counts
        aims, slack = np.maximum(own, 0.0), np.zeros_like(own)
        for _ in range(STEPS):
            agreed = self._agreeing((own + aims - slack) / 2, total)
            aims = np.maximum(agreed + slack, 0.0)
            slack = slack + agreed - aims
        return self._split(aims)

    @property
    def _counts(self) -> Array:
        """All counts, one table after another."""
        return np.concatenate([own.ravel() for own in (*self.ones, *self.pairs.values())])

    def _agreeing(self, counts: Array, total: float) -> Array:
        ones, pairs = np.split(counts, [len(self._margins.columns)])
        variances = np.array(list(map(self._variance, self.pairs)))
        return np.concatenate(self._margins.agreeing(ones, pairs, total, self.one, variances))

    def _split(self, counts: Array) -> TreeTables:
        """These counts as tables."""
        shapes = [own.shape for own in (*self.ones, *self.pairs.values())]
        parts = np.split(counts, np.cumsum(list(map(math.prod, shapes)))[:-1])
        tables = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        ones, pairs = tuple(tables[: len(self.ones)]), dict(zip(self.pairs, tables[len(self.ones) :], strict=True))
        return dataclasses.replace(self, ones=ones, pairs=pairs)
