"""The tables of pairs that are nearest to noisy ones, agree with one another and have no negative count."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.core.grid import Array

Edge = tuple[int, int]
STEPS = 12  # of the method of multipliers: more of them moved no distance on made-up networks


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

    def agreeing(self, total: float) -> TreeTables:
        """The nearest tables whose sums agree, and are `total`: counts may be negative, and are right on average.

        A column is the mean of its own counts and of the sums of its tables, each weighted by the inverse of its
        variance. Then each table is moved, evenly along the other column, so that its sums are these. That is the
        least-squares estimate, since the means, columns and interactions of pairs are orthogonal to one another.
        """
        squares = np.square(self.deviations)
        ones = [square / self.one**2 * _centred(own) for square, own in zip(squares, self.ones, strict=True)]
        for edge, table in self.pairs.items():
            for axis, column in enumerate(edge):
                share = squares[column] / (table.shape[1 - axis] * self._variance(edge))
                ones[column] = ones[column] + share * _centred(np.add.reduce(table, axis=1 - axis))
        margins = tuple(own + total / len(own) for own in ones)
        pairs = {(a, b): moved(table, margins[a], margins[b]) for (a, b), table in self.pairs.items()}
        return dataclasses.replace(self, ones=margins, pairs=pairs)

    def nearest(self, total: float) -> TreeTables:
        """The nearest tables whose sums agree, but for what rounding leaves, and that have no negative count.

        By the alternating direction method of multipliers (Boyd et al. 2011, section 3): tables that agree and tables
        without negative counts are drawn to one another, each by its closed formula, with the weights of the noise.
        """
        aims = self._each(_not_negative)
        slack = self._each(np.zeros_like)
        for _ in range(STEPS):
            agreed = self._each(lambda own, aim, off: (own + aim - off) / 2, aims, slack).agreeing(total)
            aims = agreed._each(lambda own, off: _not_negative(own + off), slack)
            slack = slack._each(lambda off, own, aim: off + own - aim, agreed, aims)
        return aims

    def _each(self, function: Callable[..., Array], *others: TreeTables) -> TreeTables:
        """What a function makes of each table, and of the same one of others."""
        ones = tuple(function(*same) for same in zip(self.ones, *(other.ones for other in others), strict=True))
        pairs = {edge: function(own, *(other.pairs[edge] for other in others)) for edge, own in self.pairs.items()}
        return dataclasses.replace(self, ones=ones, pairs=pairs)


def moved(table: Array, first: Array, second: Array) -> Array:
    """The nearest table with these sums; both have the same total.

    Examples
    --------
    >>> moved(np.array([[5.0, 1.0], [2.0, 4.0]]), np.array([8.0, 6.0]), np.array([7.0, 7.0]))
    array([[5.5, 2.5],
           [1.5, 4.5]])
    """
    table = table + ((first - np.add.reduce(table, axis=1)) / table.shape[1])[:, None]
    return np.asarray(table + ((second - np.add.reduce(table, axis=0)) / table.shape[0])[None, :])


def _not_negative(counts: Array) -> Array:
    return np.maximum(counts, 0.0)


def _centred(counts: Array) -> Array:
    return np.asarray(counts - np.add.reduce(counts) / len(counts))
