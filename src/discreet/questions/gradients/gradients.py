"""Sums of gradients of a loss that depends on a record through linear scores: residual times features."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.coordinates import CELLS, shrink
from discreet.questions.vectors.mapped_coordinates import MAPS, MappedCoordinates, check_map

SLICE = 2**17  # coordinates at a time, which stay in the cache
SCORES = 2.0 ** (MAPS.exponent - CELLS)  # a step of a score
GRADIENTS = Grid(-2 * CELLS)
Residuals = Callable[[Array, Array], Array]
"""Scores of shape (m, n) and the n targets in; residuals of shape (j, n) out, in whole steps of 2**-15.

Each column depends on its own alone, to the last bit; a target that is missing has residuals of zero.
"""


def gradients_of(
    features: MappedCoordinates,
    columns: tuple[str, ...],
    coefficients: Array,
    residuals: Residuals,
    longest: float,
) -> BoundedSum:
    """The sum of z r', row by row, where z are features of length 1 at most and r residuals.

    Residuals are shrunk to the length `longest`, and so is the sum of one record. Features, coefficients and residuals
    are whole steps: scores and sums are exact, in whatever order they are added. Beyond 2**22 records in a batch they
    may not be.

    Parameters
    ----------
    features : MappedCoordinates
        Public. Of all columns but the last.
    columns : tuple of str
        Public. Those of the features, and then the target.
    coefficients : array of shape (m, k)
        Public. Of the m scores of a record, on the grid `MAPS`.
    residuals : callable
        What a record pulls with: see `Residuals`.
    longest : float
        Public. The length that residuals are shrunk to.
    """
    size = features.size - 1
    check_map("gradients", "coefficients", coefficients, size)
    check_positive("gradients", "residual", longest, 2.0**-6, 2.0**6)
    inner = np.concatenate([np.zeros((len(coefficients), 1)), MAPS.cut(coefficients)], axis=1)
    squared = math.floor(math.ldexp(longest * longest, 2 * CELLS))

    def pulls(records: Array) -> tuple[Array, Array]:
        """Features and residuals of each record, in columns of whole steps."""
        z = features.steps(records[:, :-1], np.empty((features.size, len(records))))
        r = residuals(np.matmul(inner, z) * SCORES, records[:, -1])
        shrink(r, squared)
        return z[1:], r

    def of(records: Array) -> Array:
        z, r = pulls(records)
        return GRADIENTS.values((z.T[:, :, None] * r.T[:, None, :]).reshape(len(records), size * len(r)))

    def total(records: Array) -> Array:
        rows = max(SLICE // size, 1)
        parts = [pulls(records[start : start + rows]) for start in range(0, max(len(records), 1), rows)]
        return np.asarray(np.sum([z @ r.T for z, r in parts], axis=0).ravel())

    return BoundedSum(of, Bound("l2", longest * (1 + 2.0**-30)), columns, GRADIENTS, total)


def contrasts(classes: int) -> Array:
    """Rows of length 1 that are orthogonal to one another and to (1, ..., 1): Helmert's, on the grid of steps.

    Residuals of classes add up to 0, so these K - 1 numbers say all that K would.
    """
    rows = np.tril(np.ones((classes - 1, classes)))
    rows[np.arange(classes - 1), np.arange(1, classes)] = -np.arange(1.0, classes)
    lengths = np.sqrt(np.arange(1.0, classes) * np.arange(2.0, classes + 1))
    return np.ldexp(np.trunc(np.ldexp(rows / lengths[:, None], CELLS)), -CELLS)
