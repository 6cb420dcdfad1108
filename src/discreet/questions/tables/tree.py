"""Cells in a row, measured as a tree: counts of ever longer stretches, so that sums from the left have few parts.

Every node has the same number of children. What is left of the counts of siblings once their mean is taken off makes
one space for each level; noise that is alike on all nodes of a level is uncorrelated between these spaces, so least
squares is a weighted mean in each of them. That is the estimate of Hay, Rastogi, Miklau and Suciu 2010, for any
weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.cells import ascending
from discreet.questions.tables.domain import MOST_CELLS, Domain
from discreet.questions.tables.query_weighting import FINENESS, MARGIN, QueryWeighting, check_weights, steps_of
from discreet.schema.schema import Schema

DEEPEST = 20  # levels, each with at least twice the nodes of the one above
LARGEST = 16  # children of a node, except in a tree of one or two levels
ENDS = 128  # sums from the left that count in the choice of weights


@dataclass(frozen=True)
class Tree:
    """A tree over cells in a row, and what is measured of it. All of it public.

    Parameters
    ----------
    fanout, depth : int
        The number of children of a node, and of levels below the root; leaves beyond the cells are empty.
    steps : tuple of int
        The weight of the counts of each level below the root, from the top, in steps of the grid.
    grid : Grid
        Of the sum.
    norm : {"l1", "l2"}
        How the length of what a record adds is measured.

    Examples
    --------
    >>> Tree.even(2, 2, "l1").numbers(np.array([1.0, 2.0, 3.0, 4.0]))
    array([3., 7., 1., 2., 3., 4.])
    """

    fanout: int
    depth: int
    steps: tuple[int, ...]
    grid: Grid
    norm: Norm

    @classmethod
    def even(cls, fanout: int, depth: int, norm: Norm) -> Tree:
        """The tree whose levels all have weight one."""
        return cls(fanout, depth, (1,) * depth, Grid(0), norm)

    @classmethod
    def weighted(cls, fanout: int, cells: int, norm: Norm) -> Tree:
        """The tree whose weights are best for the sums from the left."""
        depth = math.ceil(math.log(cells, fanout) - 1e-9)
        return cls(fanout, depth, _best_steps(fanout, depth, cells, norm), Grid(-FINENESS), norm)

    @property
    def leaves(self) -> int:
        return self.fanout**self.depth

    @property
    def sizes(self) -> list[int]:
        return [self.fanout**level for level in range(1, self.depth + 1)]

    @property
    def weighting(self) -> QueryWeighting:
        """Information of each level about its own space and those above; the noise of a sum grows with its parts."""
        levels, spaces = np.arange(1, self.depth + 1)[:, None], np.arange(self.depth + 1)
        information = np.where(spaces <= levels, float(self.fanout) ** np.minimum(spaces - levels, 0), 0.0)
        return QueryWeighting(information, np.ones(self.depth), self.norm)

    @property
    def weights(self) -> Array:
        return self.grid.values(np.array(self.steps))

    @property
    def bound(self) -> Bound:
        return Bound(self.norm, self.weighting.length(self.weights) * MARGIN, nonnegative=True)

    def importance(self, cells: int) -> Array:
        """How much the noise in the space of each level counts in sums from the left, as shares of the whole sum.

        The weights of the nodes in the sum of k of m cells, less k/m times those in the sum of all, are projected on
        each space: by taking off the means of siblings. The root moves shares only as far as the records are not spread
        evenly: by 1/12 on average, if they may be anywhere.
        """
        ends = np.unique(np.linspace(1, max(cells - 1, 1), ENDS).astype(np.int64))[:, None]
        shares = [1 / 12]
        for level, nodes in enumerate(self.sizes, start=1):
            width = self.fanout ** (self.depth - level)
            part, whole = (np.clip(end / width - np.arange(nodes), 0, 1) for end in (ends, cells))
            shares.append(float(np.square(self._centered(part - ends / cells * whole)).sum(axis=-1).mean()))
        return np.array(shares)

    def error(self, cells: int) -> float:
        """The mean variance of sums from the left over n cells, for noise of deviation one."""
        return float(self.importance(cells) @ self.weighting.variances(self.weights))

    def numbers(self, leaves: Array) -> Array:
        """What counts of leaves are measured as, in steps of the grid; leading axes stack."""
        levels = [leaves]
        while len(levels) < self.depth:
            levels.append(self._siblings(levels[-1]).sum(axis=-1))
        return np.concatenate([steps * level for steps, level in zip(self.steps, levels[::-1], strict=True)], axis=-1)

    def leaves_of(self, released: Array) -> Array:
        """The least squares estimates of the counts of all leaves; leading axes stack releases."""
        variances, information = self.weighting.variances(self.weights), self.weighting.information
        spaces = [np.zeros(1)] * (self.depth + 1)
        parts = np.split(released, np.cumsum(self.sizes)[:-1], axis=-1)
        for row, (weight, part) in enumerate(zip(self.weights, parts, strict=True)):
            nodes = part / weight
            for space in range(row + 1, -1, -1):
                share = weight**2 * information[row, space] * variances[space]
                spaces[space] = spaces[space] + share * (self._centered(nodes) if space else nodes)
                nodes = self._siblings(nodes).sum(axis=-1) if space else nodes
        leaves = spaces[0]
        for own in spaces[1:]:
            leaves = np.repeat(leaves, self.fanout, axis=-1) / self.fanout + own
        return leaves

    def variance(self, weights: Array) -> float:
        """Of a weighted sum of the estimates of the leaves, for noise of deviation one."""
        means, squares = weights, []
        for _ in range(self.depth):
            squares.append(np.square(self._centered(means)).sum())
            means = self._siblings(means).mean(axis=-1)
        squares.append(np.square(means).sum())
        return float(np.array(squares[::-1]) @ self.weighting.variances(self.weights))

    def question(self, schema: Schema, column: str, bins: int | tuple[float, ...]) -> BoundedSum:
        """The question that others can build again, about so many equal cells, or those between edges."""
        return tree_of(schema, column, bins, self.fanout, self.depth, self.steps, self.grid.exponent, self.norm)

    def _siblings(self, nodes: Array) -> Array:
        return nodes.reshape((*nodes.shape[:-1], nodes.shape[-1] // self.fanout, self.fanout))

    def _centered(self, nodes: Array) -> Array:
        siblings = self._siblings(nodes)
        return (siblings - siblings.mean(axis=-1, keepdims=True)).reshape(nodes.shape)


@lru_cache(maxsize=1024)
def _best_steps(fanout: int, depth: int, cells: int, norm: Norm) -> tuple[int, ...]:
    """The weights that are best for the sums from the left; every party that is asked builds the same tree."""
    even = Tree.even(fanout, depth, norm)
    return steps_of(even.weighting.optimal_weights(even.importance(cells)))


@lru_cache(maxsize=64)
def trees(cells: int, norm: Norm) -> tuple[Tree, ...]:
    """Trees over n cells that may be best: one of depth one, or of several fanouts, each with the best weights."""
    fanouts = {*range(2, LARGEST + 1), math.isqrt(cells - 1) + 1}
    return (Tree.even(cells, 1, norm), *(Tree.weighted(one, cells, norm) for one in sorted(fanouts) if one < cells))


@recipe("tree")
def tree_of(
    schema: Schema,
    column: str,
    bins: int | tuple[float, ...],
    fanout: int,
    depth: int,
    steps: tuple[int, ...],
    exponent: int,
    norm: Norm,
) -> BoundedSum:
    """The counts of a tree over the cells of a number, so many equal ones or those between edges; a missing value adds
    nothing, and the outer cells have no outer ends.
    """
    if isinstance(bins, tuple):
        schema.number(column)
        domain = Domain((column,), (ascending(column, bins),))
    else:
        domain = Domain.listed(schema, (column,), (bins,))
    check_whole("tree", "depth", depth, most=DEEPEST)
    check_whole("tree", "fanout", fanout, most=MOST_CELLS)
    check_size("tree", sum(fanout**level for level in range(1, depth + 1)), 2 * MOST_CELLS)
    check_weights("tree", steps, depth, exponent, norm)
    tree = Tree(fanout, depth, steps, Grid(exponent), norm)
    if domain.size > tree.leaves:
        raise ParameterError("tree", f"it has {tree.leaves} leaves for {domain.size} cells", "Take more levels.")

    def of(records: Array) -> Array:
        leaves = np.zeros((len(records), tree.leaves))
        leaves[np.flatnonzero(~np.isnan(records[:, 0])), domain.codes(records)] = 1.0
        return tree.grid.values(tree.numbers(leaves))

    def total(records: Array) -> Array:
        return tree.numbers(np.bincount(domain.codes(records), minlength=tree.leaves).astype(np.float64))

    return BoundedSum(of, tree.bound, (column,), tree.grid, total)
