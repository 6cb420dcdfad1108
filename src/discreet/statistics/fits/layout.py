"""How the counts of cells are laid out inside their cells, as weighted points: post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from discreet.core.grid import Array

MOST_POINTS = 2**18
NODES = {0: 1, 1: 8, 2: 3, 3: 2}  # points of a cell along each number, by how many numbers there are


@dataclass(frozen=True)
class Layout:
    """Points inside the cells of a table, and the linear maps from counts to their weights.

    A cell's count is laid out along the slope of its neighbors, so that the whole has the distribution that the cells
    show, to the second order of their width. With all of a count at the centre, or level, variances would be too large
    by a twelfth or a sixth of the squared width (Sheppard 1898), and lines too flat.

    Parameters
    ----------
    points : array of shape (points, columns)
        Where they are: numbers between -1 and 1 for their bounds, categories by their place in the list.
    middle, half : array of shape (columns,)
        What turns such numbers into those of the columns.
    steps : array of shape (columns,)
        How far points are apart; 0 for categories.
    nodes : int
        How many points a cell has along each number.
    sloped, level : tuple of sparse matrices
        For each column, the weights of its points for each of its cells: along the slope, and level.

    Examples
    --------
    >>> layout = Layout.of([np.linspace(0.0, 8.0, 5)], [4])
    >>> layout.points.size, layout.weights(np.array([8.0, 8.0, 8.0, 8.0])).round(3)[:3]
    (32, array([1., 1., 1.]))
    """

    points: Array
    middle: Array
    half: Array
    steps: Array
    nodes: int
    sloped: tuple[Any, ...]
    level: tuple[Any, ...]

    @classmethod
    def of(cls, edges: Sequence[Array | None], cells: Sequence[int], merged: int = 1) -> Layout:
        """The layout of a table with these edges along each number, and these numbers of cells along each column.

        Where several neighbors are `merged`, it is that of their sum: as if cells were as many times as wide.
        """
        numbers = [ends is not None for ends in edges]
        nodes = NODES[min(sum(numbers), 3)]
        while nodes > 1 and math.prod(cells) * nodes ** sum(numbers) > MOST_POINTS:
            nodes -= 1
        axes = [
            _numbers(size, nodes, merged) if number else _names(size)
            for number, size in zip(numbers, cells, strict=True)
        ]
        points = [axis.ravel() for axis in np.meshgrid(*(axis.places for axis in axes), indexing="ij")]
        bounds = [(-1.0, 1.0) if one is None else (float(one[0]), float(one[-1])) for one in edges]
        return cls(
            np.stack(points, axis=1),
            np.array([0.5 * low + 0.5 * high for low, high in bounds]),
            np.array([0.5 * high - 0.5 * low for low, high in bounds]),
            np.array([axis.step for axis in axes]),
            nodes,
            tuple(axis.sloped for axis in axes),
            tuple(axis.level for axis in axes),
        )

    @property
    def own_points(self) -> Array:
        """The points in the units of the columns."""
        return self.middle + self.half * self.points

    def weights(self, counts: Array) -> Array:
        """The weight of each point, along the slopes."""
        return _along(self.sloped, counts.reshape([one.shape[1] for one in self.sloped])).ravel()

    def level_weights(self, counts: Array) -> Array:
        """The weight of each point, level inside each cell."""
        return _along(self.level, counts.reshape([one.shape[1] for one in self.level])).ravel()

    def gathered(self, values: Array) -> Array:
        """By how much the weighted sum of values over all points changes with each count; values in columns."""
        return _back(self._from_sloped, values)

    def averaged(self, values: Array) -> Array:
        """The mean of the values over the points of each cell; values in columns."""
        return _back(self._from_level, values)

    @cached_property
    def _from_sloped(self) -> tuple[Any, ...]:
        return tuple(one.T for one in self.sloped)

    @cached_property
    def _from_level(self) -> tuple[Any, ...]:
        return tuple(one.T for one in self.level)


@dataclass(frozen=True)
class _Axis:
    """One column of a layout."""

    places: Array
    step: float
    sloped: Any
    level: Any


def _names(cells: int) -> _Axis:
    """A column of categories, each a cell."""
    alone = sparse.eye(cells, format="csr")
    return _Axis(np.arange(cells, dtype=np.float64), 0.0, alone, alone)


@lru_cache(maxsize=32)
def _numbers(cells: int, nodes: int, merged: int) -> _Axis:
    """A column of numbers; where its bounds are makes no difference."""
    wide = -(-cells // merged)
    sums = sparse.csr_matrix((np.ones(cells), (np.arange(cells) // merged, np.arange(cells))), (wide, cells))
    step, offsets = 2 * merged / (cells * nodes), (np.arange(nodes) + 0.5) / nodes - 0.5
    places: Array = step * (np.arange(wide * nodes, dtype=np.float64) + 0.5) - 1
    level = sparse.kron(sparse.eye(wide), np.full((nodes, 1), 1 / nodes))
    slope = sparse.kron(_slopes(wide), _steepness(nodes) * offsets[:, None] / nodes)
    return _Axis(places, step, ((level + slope) @ sums).tocsr(), (level @ sums).tocsr())


def _along(matrices: tuple[Any, ...], table: Array) -> Array:
    """A table, multiplied by a matrix along each of its first axes."""
    for axis, matrix in enumerate(matrices):
        turned = np.moveaxis(table, axis, 0)
        product = (matrix @ turned.reshape(len(turned), -1)).reshape(-1, *turned.shape[1:])
        table = np.moveaxis(product, 0, axis)
    return table


def _back(matrices: tuple[Any, ...], values: Array) -> Array:
    """Values of points in columns, multiplied by transposed matrices."""
    table = values.reshape([*(one.shape[1] for one in matrices), values.shape[1]])
    return _along(matrices, table).reshape(-1, values.shape[1])


def _slopes(cells: int) -> Any:
    """The slope of the counts at each cell: half the difference of its neighbors, one-sided at the ends."""
    if cells == 1:
        return sparse.csr_matrix((1, 1))
    inner = np.full(cells - 2, 0.5)
    main = np.r_[-1.0, np.zeros(cells - 2), 1.0]
    return sparse.diags([np.r_[-inner, -1.0], main, np.r_[1.0, inner]], [-1, 0, 1])


def _steepness(nodes: int) -> float:
    """By how much slopes count for variances to be right, with points of variance v inside a cell of width 1.

    Centres alone have a twelfth too much. Points add v, and slopes take 2 v s away: the sum of c (w(c+1) - w(c-1)) / 2
    over all centres c is, by parts, minus the sum of w. So s = (1/12 + v) / (2 v), which is 1 for v = 1/12.
    """
    inside = (1 - nodes**-2) / 12
    return 0.0 if nodes == 1 else (1 / 12 + inside) / (2 * inside)
