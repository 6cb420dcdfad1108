"""Products of two features in every step of time, and in all stretches of 2, 4, 8, ... steps: a tree of sums."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.mapped_coordinates import AcuteBound
from discreet.questions.vectors.row_steps import by_slices
from discreet.questions.vectors.second_moments import EIGHTHS, weights_of
from discreet.schema.schema import Schema

MOST_STEPS = 2**12


@recipe("product_tree")
def product_tree_of(schema: Schema, columns: tuple[str, ...], time: str, steps: int, radius: float) -> BoundedSum:
    """Each record z adds z z' to its step of time, and to every stretch of the tree that holds this step.

    Products are listed and weighted as in `second_moments`, without a constant: first those of all steps, then those of
    all stretches of two, and so on. A record is in one stretch of each length, so it adds a vector that is sqrt(levels)
    |z|^2 long, and no two such vectors form an obtuse angle. A record with a missing value adds nothing.

    Parameters
    ----------
    time : str
        Public. The numeric column of time; steps divide its bounds into equal parts.
    steps : int
        Public. How many: a power of two.
    radius : float
        Public. The length that a record is shrunk to where the bounds of every column are [-1, 1].
    """
    if not (1 <= steps <= MOST_STEPS and steps & (steps - 1) == 0):
        remedy = f"Give a power of two, up to {MOST_STEPS}."
        raise ParameterError("product tree", f"there are {steps} steps", remedy)
    coordinates, clock = Coordinates.of(schema, columns, radius), schema.number(time)
    n = coordinates.size - 1
    first, second = np.triu_indices(n)
    eighths = math.ldexp(1.0, EIGHTHS) * weights_of(n)
    grid = Grid(2 * coordinates.grid.exponent - EIGHTHS)
    unit = (0.5 * clock.upper - 0.5 * clock.lower) * (2 / steps)

    def places(times: Array) -> NDArray[np.intp]:
        """The step of each record; a record without a time is in the first, and adds nothing."""
        passed = (np.nan_to_num(times, nan=clock.lower).clip(clock.lower, clock.upper) - clock.lower) / unit
        return np.minimum(passed, steps - 1).astype(np.intp)

    def vectors(records: Array) -> Array:
        z = coordinates.steps(records[:, :-1], np.empty((n + 1, len(records))))[1:]
        z[:, ~np.isfinite(records[:, -1])] = 0.0
        return z

    def of(records: Array) -> Array:
        z, place = vectors(records), places(records[:, -1])
        leaves = np.zeros((len(records), steps, len(first)))
        leaves[np.arange(len(records)), place] = grid.values((z[first] * z[second]).T * eighths)
        return tree_of(leaves)

    def total(records: Array) -> Array:
        z, place = vectors(records), places(records[:, -1])
        order = np.argsort(place, kind="stable")
        ends = np.searchsorted(place[order], np.arange(1, steps))
        leaves = np.stack([(part @ part.T)[first, second] for part in np.split(z[:, order], ends, axis=1)])
        return tree_of(leaves[None] * eighths)[0]

    longest = math.ldexp(coordinates.longest, 2 * coordinates.grid.exponent)
    bound = AcuteBound("l2", longest * math.sqrt(steps.bit_length()) * (1 + 2.0**-30))
    size = (2 * steps - 1) * len(first)
    return BoundedSum(of, bound, (*schema.values(columns), time), grid, by_slices(total, n + 1, size))


def tree_of(leaves: Array) -> Array:
    """All levels of the tree, the leaves first: from arrays of shape (rows, steps, numbers), one row each.

    Examples
    --------
    >>> tree_of(np.arange(4.0).reshape(1, 4, 1))
    array([[0., 1., 2., 3., 1., 5., 6.]])
    """
    rows, levels = len(leaves), [leaves]
    while levels[-1].shape[1] > 1:
        levels.append(levels[-1][:, ::2] + levels[-1][:, 1::2])
    return np.concatenate([level.reshape(rows, level.shape[1] * level.shape[2]) for level in levels], axis=1)


def prefixes_of(released: Array, steps: int) -> Array:
    """The sums of the steps before each one, and of all, from a noisy tree: post-processing.

    A prefix is put together from as few stretches as there are ones in the binary form of its length.

    Examples
    --------
    >>> prefixes_of(np.array([0.0, 1, 2, 3, 1, 5, 6]), 4).ravel()
    array([0., 0., 1., 3., 6.])
    """
    nodes = released.reshape(2 * steps - 1, -1)
    found = np.zeros((steps + 1, nodes.shape[1]))
    for length in range(1, steps + 1):
        low = length & -length  # the last stretch of the prefix has this length
        level = low.bit_length() - 1
        start = 2 * steps - 2 * (steps >> level)
        found[length] = found[length - low] + nodes[start + (length >> level) - 1]
    return found
