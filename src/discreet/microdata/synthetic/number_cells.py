"""The cells of a number, from noisy counts of many small ones: few where there are few records, and one for an atom."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.bound import Norm
from discreet.core.grid import Array, Steps
from discreet.mechanisms.microdata.round_cuts import Scale
from discreet.questions.question import BoundedSum
from discreet.questions.tables.tree import Tree
from discreet.schema.schema import Number, Schema

FANOUT, LEAVES, MOST_LEAVES = 16, 16**3, 16**4
CLEAR = 4.0  # deviations by which a leaf must differ from none to be an atom
LEAST = 1e-6  # of all values, in all leaves together, so that none is empty


def leaf_edges(number: Number) -> Array:
    """The edges of the smallest cells, which are public: both ends of the column have one of their own.

    Examples
    --------
    >>> leaf_edges(Number(0, 3, step=1))
    array([-0.5,  0.5,  1.5,  2.5,  3.5])
    >>> len(leaf_edges(Number(0.0, 1.0))), len(leaf_edges(Number(0, 10**6, step=1))) <= MOST_LEAVES + 1
    (4097, True)
    """
    if number.step is None:
        inner = np.linspace(number.lower, number.upper, LEAVES - 1)
        inner[0] = np.nextafter(number.lower, math.inf)
        return np.unique([number.lower, *inner, np.nextafter(number.upper, math.inf)])
    values = round((number.upper - number.lower) / number.step) + 1
    each = -(-values // (MOST_LEAVES - 2))
    firsts = np.unique([0, *range(1, values - 1, each), values - 1, values])
    return np.asarray(number.lower + number.step * (firsts - 0.5))


def leaf_tree(edges: Array, norm: Norm) -> Tree:
    """What is counted of the leaves: sums of ever longer stretches."""
    leaves = len(edges) - 1
    return Tree.even(FANOUT, max(math.ceil(math.log(leaves, FANOUT) - 1e-9), 1), norm)


def leaf_question(schema: Schema, column: str, norm: Norm) -> BoundedSum:
    """The counts of a column's leaves, in sums that noise adds up little in."""
    edges = leaf_edges(schema.number(column))
    return leaf_tree(edges, norm).question(schema, column, tuple(edges.tolist()))


@dataclass(frozen=True)
class NumberCells:
    """The cells of a number, and how its values lie in them: from a release.

    Parameters
    ----------
    number : Number
        Public. The column.
    leaves : array
        The edges of the smallest cells.
    weights : array
        How many values are in each of them, about; not negative.
    starts : array of int
        The leaf that each cell begins with, and the number of leaves.
    """

    number: Number
    leaves: Array = field(repr=False)
    weights: Array = field(repr=False)
    starts: Steps = field(repr=False)

    @classmethod
    def few(cls, number: Number, bins: int) -> NumberCells | None:
        """A cell for each value, if there are few enough: then nothing need be counted."""
        if number.step is None or (number.upper - number.lower) / number.step >= bins - 0.5:
            return None
        edges = leaf_edges(number)
        return cls(number, edges, np.ones(len(edges) - 1), np.arange(len(edges)))

    @classmethod
    def of(cls, number: Number, released: Array, stddev: float, bins: int, norm: Norm) -> NumberCells:
        """A cell for each leaf that has a share of 1 / `bins` of all values, and `bins` cells for the others, as even.

        Sums from the left that fall, by noise, are replaced by the middle between the largest so far and the least to
        come: so how values lie in a cell is known as well as noise lets them be told apart.

        Parameters
        ----------
        number : Number
            Public. The column.
        released : array
            The noisy counts of its `leaf_question`.
        stddev : float
            Public. Of the noise of each.
        bins : int
            Public. How many cells are wanted.
        norm : {"l1", "l2"}
            Public. In which the counts were bounded.
        """
        edges = leaf_edges(number)
        tree, count = leaf_tree(edges, norm), len(edges) - 1
        found = tree.leaves_of(released)[:count]
        one = np.zeros(tree.leaves)
        one[0] = 1.0
        deviation = stddev * math.sqrt(tree.variance(one))
        below = np.concatenate([[0.0], np.cumsum(found)])
        rising = (np.maximum.accumulate(below) + np.minimum.accumulate(below[::-1])[::-1]) / 2
        weights = np.diff(rising)
        total = max(float(weights.sum()), 1.0)
        atoms = np.flatnonzero(found > max(total / bins, CLEAR * deviation))
        others = weights.copy()
        others[atoms] = 0.0
        cuts = np.searchsorted(np.cumsum(others), others.sum() * np.arange(1, bins) / bins) + 1
        starts = np.unique(np.clip(np.concatenate([[0], cuts, atoms, atoms + 1, [count]]), 0, count))
        return cls(number, edges, weights + LEAST * total / count, starts)

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the cells."""
        return tuple(self.leaves[self.starts].tolist())

    def drawn(self, cells: Steps, generator: np.random.Generator) -> Array:
        """A value in each of these cells: in a leaf by its weight, and anywhere in that.

        A cell of one leaf is that of a frequent value, which is most likely the roundest number in it.
        """
        if self.number.step is not None and self._apart:
            return np.minimum(self.number.lower + self.number.step * cells, self.number.upper)
        ends = np.concatenate([[0.0], np.cumsum(self.weights)])
        low, high = ends[self.starts[cells]], ends[self.starts[cells + 1]]
        marks = low + generator.random(len(cells)) * (high - low)
        leaf = np.clip(np.searchsorted(ends, marks, "right") - 1, self.starts[cells], self.starts[cells + 1] - 1)
        left, right = self.leaves[leaf], self.leaves[leaf + 1]
        values = np.minimum(left + generator.random(len(cells)) * (right - left), np.nextafter(right, -math.inf))
        if self.number.step is not None:
            values = self.number.lower + self.number.step * np.rint((values - self.number.lower) / self.number.step)
        else:
            alone = self.starts[cells + 1] - self.starts[cells] == 1
            values = np.where(alone, self._roundest[leaf], self._rounded(values, left, right))
        return np.clip(values, self.number.lower, self.number.upper)

    @property
    def _apart(self) -> bool:
        """Whether each value of a number with a step has a cell of its own."""
        assert self.number.step is not None
        return len(self.starts) - 2 == round((self.number.upper - self.number.lower) / self.number.step)

    @cached_property
    def _roundest(self) -> Array:
        """The roundest number in each leaf: where a frequent value is taken to be."""
        scale = Scale("number", self.number.lower, self.number.upper)
        return scale.between(np.nextafter(self.leaves[:-1], -math.inf), np.nextafter(self.leaves[1:], -math.inf))

    def _rounded(self, values: Array, left: Array, right: Array) -> Array:
        """With as many digits as tell leaves apart, since nothing is known of more; unless a leaf would be left."""
        width = (self.number.upper - self.number.lower) / LEAVES
        digits = min(max(math.ceil(-math.log10(width)), -15), 15)
        near = np.round(values, digits)
        inside = np.where(near < left, near + 10.0**-digits, np.where(near >= right, near - 10.0**-digits, near))
        found = np.round(inside, digits)
        return np.where((found >= left) & (found < right), found, values)
