"""Where random cuts fall: half of them by the width of a feature, and half by its noisy quantiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.trees.random_trees import MIDDLE, Trees

CELLS = tuple(2**power for power in range(10, 3, -1))  # of a feature, to count in
EVEN = 20  # cells whose ends are the ends of the middle too
ROUGH = 0.1  # of all records, the noise on their number below a cell that is still worth knowing


@dataclass(frozen=True)
class CutScale:
    """A height from 0 to 1 for each value of each feature, on which cuts are uniform.

    Cuts by width alone miss all that happens in a small part of the bounds, as with amounts of which few are large; and
    those by quantiles alone miss the ends, where classes may differ most.

    Parameters
    ----------
    edges, heights : arrays of shape (n_features, n_cells + 1)
        Values, and the height of each; between two of them it is linear.
    """

    edges: Array
    heights: Array

    @classmethod
    def even(cls, task: Task) -> CutScale:
        """By width: cuts are in the middle of the bounds."""
        return cls(*_by_width(task, EVEN))

    @classmethod
    def of(cls, task: Task, noisy: Array) -> CutScale:
        """Half by width, and half by noisy counts in cells, of shape (n_features, n_cells)."""
        edges, even = _by_width(task, noisy.shape[1])
        below = np.maximum.accumulate(np.cumsum(np.pad(noisy, ((0, 0), (1, 0))), axis=1), axis=1)
        return cls(edges, (even + below / np.maximum(below[:, -1:], 1.0)) / 2)

    def drawn(self, rng: np.random.RandomState, trees: int, depth: int) -> Trees:
        """Random trees: any feature at each node, cut anywhere between the cuts above it."""
        splits = np.zeros((2, trees, 0))
        for level in range(depth):
            splits = np.append(splits, self.candidates(rng, splits, level), axis=2)
        return Trees(splits[0], self.cuts(splits))

    def candidates(self, rng: np.random.RandomState, splits: Array, level: int) -> Array:
        """A feature and a height for each node of the next level of these trees: of shape (2, n_trees, n_nodes)."""
        (features, heights), shape = splits, (splits.shape[1], 2**level)
        own, part = rng.randint(len(self.edges), size=shape), rng.uniform(size=shape)
        low, high, child = np.zeros(shape), np.ones(shape), np.arange(2**level - 1, 2 ** (level + 1) - 1)
        for _ in range(level):
            parent, right = (child - 1) // 2, child % 2 == 0
            there, same = heights[:, parent], features[:, parent] == own
            low = np.where(same & right, np.maximum(low, there), low)
            high = np.where(same & ~right, np.minimum(high, there), high)
            child = parent
        return np.stack([own, low + (high - low) * part])

    def cuts(self, splits: Array) -> Array:
        """The values at the heights of features, both of shape (n_trees, n_nodes)."""
        (features, heights), found = splits, np.zeros(splits.shape[1:])
        for place, (edges, own) in enumerate(zip(self.edges, self.heights, strict=True)):
            there: NDArray[np.bool_] = features == place
            found[there] = np.interp(heights[there], own, edges)
        return found


def _by_width(task: Task, cells: int) -> Array:
    """The ends of cells of equal width, and heights that rise in the middle of the bounds alone."""
    numbers = [task.schema.number(name) for name in task.features]
    parts = np.linspace(0.0, 1.0, cells + 1)
    edges = np.array([number.lower * (1 - parts) + number.upper * parts for number in numbers])
    return np.stack([edges, np.broadcast_to(np.clip((parts - 0.5) / MIDDLE + 0.5, 0.0, 1.0), edges.shape)])
