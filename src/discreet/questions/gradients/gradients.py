"""Sums of gradients of a loss that depends on a record through linear scores: residual times features."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.coordinates import CELLS, shrink
from discreet.questions.vectors.mapped_coordinates import MAPS, ONE, MappedCoordinates, checked_map
from discreet.schema.schema import Schema

SLICE = 2**17  # coordinates at a time, which stay in the cache
SCORES = 2.0 ** (MAPS.exponent - CELLS)  # a step of a score
GRADIENTS = Grid(-2 * CELLS)
Residuals = Callable[[Array, Array], Array]
"""Scores of shape (m, n) and the n targets in; residuals of shape (j, n) out, in whole steps of 2**-15.

Each column depends on its own alone, to the last bit; a target that is missing has residuals of zero.
"""
WHOLE = 2.0**30  # steps of a weight, so that the sum of the weights of all classes is exact
MOST_CLASSES = 2**12


Pulls = Callable[[Array], tuple[Array, Array]]
"""Records in; features and residuals out, of each record in a column of whole steps: all of it exact."""


def gradients_of(pulls: Pulls, size: int, scores: int, longest: float, columns: tuple[str, ...]) -> BoundedSum:
    """The sum of z r', row by row, where z are `size` features of length 1 at most and r residuals of `scores`.

    Features, coefficients and residuals are whole steps: scores and sums are exact, in whatever order they are added.
    Beyond 2**22 records in a batch they may not be.
    """

    def of(records: Array) -> Array:
        z, r = pulls(records)
        return GRADIENTS.values((z.T[:, :, None] * r.T[:, None, :]).reshape(len(records), size * scores))

    def total(records: Array) -> Array:
        rows = max(SLICE // size, 1)
        found = np.zeros((size, scores))
        for start in range(0, len(records), rows):
            z, r = pulls(records[start : start + rows])
            found += z @ r.T
        return found.ravel()

    bound = Bound("l2", longest * (1 + 2.0**-30))
    return BoundedSum(of, bound, columns, GRADIENTS, total, width=size * scores)


def shrunk_pulls(features: MappedCoordinates, coefficients: Array, residuals: Residuals, longest: float) -> Pulls:
    """Residuals at the shrunk record, each shrunk to the length `longest`."""
    inner, squared = _scoring(features, coefficients), _squared(longest)

    def pulls(records: Array) -> tuple[Array, Array]:
        z = features.steps(records[:, :-1], np.empty((features.size, len(records))))
        r = residuals(np.matmul(inner, z) * SCORES, records[:, -1])
        _shorten(r, squared)
        return z[1:], r

    return pulls


def weighted_pulls(
    features: MappedCoordinates, coefficients: Array, residuals: Residuals, longest: float, weights: Array | None = None
) -> Pulls:
    """Residuals at the record as it is, shrunk to the length `longest`, times the weight of its class, if it has one.

    The features are shrunk after that: so long records count less, and what is estimated from them is the same. A
    coordinate before it is shrunk has 2**19 steps at most, and the coefficients of a score 2**30: a score is exact.
    """
    inner, squared = _scoring(features, coefficients), _squared(longest)

    def pulls(records: Array) -> tuple[Array, Array]:
        z = features.unshrunk(records[:, :-1], np.empty((features.size, len(records))))
        targets = records[:, -1]
        r = residuals(np.matmul(inner, z) * SCORES, targets)
        _shorten(r, squared)
        if weights is not None:
            r = np.trunc(r * weights[np.where(np.isnan(targets), 0, targets).astype(np.intp)])
        shrink(z[1:], ONE)
        return z[1:], r

    return pulls


def _scoring(features: MappedCoordinates, coefficients: Array) -> Array:
    """What makes scores of coordinates, of which the first, a constant, is of no use."""
    inner = checked_map("gradients", "coefficients", coefficients, features.size - 1)
    return np.concatenate([np.zeros((len(inner), 1)), inner], axis=1)


def _squared(longest: float) -> int:
    """The square of a length of residuals, in squared steps."""
    check_positive("gradients", "residual", longest, 2.0**-6, 2.0**6)
    return math.floor(math.ldexp(longest * longest, 2 * CELLS))


def _shorten(residuals: Array, squared: int) -> None:
    """Shrink each column of residuals in place to a squared length; of one alone, that is a matter of its size."""
    if len(residuals) == 1:
        np.clip(residuals, -math.isqrt(squared), math.isqrt(squared), out=residuals)
    else:
        shrink(residuals, squared)


def check_weights(weights: Array, classes: int) -> None:
    """Refuse weights with which a record could add more than its bound."""
    if weights.shape != (classes,) or not (weights >= 0).all() or not (weights <= 1).all():
        obstacle = f"the weights of {classes} classes have the shape {weights.shape} or are not from 0 to 1"
        raise ParameterError("gradients", obstacle, f"Give {classes} numbers from 0 to 1.")


@lru_cache(maxsize=16)
def contrasts(classes: int) -> Array:
    """Rows of length 1 that are orthogonal to one another and to (1, ..., 1): Helmert's, on the grid of steps.

    Residuals of classes add up to 0, so these K - 1 numbers say all that K would.
    """
    rows = np.tril(np.ones((classes - 1, classes)))
    rows[np.arange(classes - 1), np.arange(1, classes)] = -np.arange(1.0, classes)
    lengths = np.sqrt(np.arange(1.0, classes) * np.arange(2.0, classes + 1))
    found = np.ldexp(np.trunc(np.ldexp(rows / lengths[:, None], CELLS)), -CELLS)
    found.flags.writeable = False  # it is kept for other questions
    return found


@recipe("softmax_gradients")
def softmax_gradients_of(
    schema: Schema, columns: tuple[str, ...], target: str, matrix: Array, coefficients: Array, residual: float
) -> BoundedSum:
    """The sum of z (p - e)', in K - 1 contrasts of the classes: p are probabilities, e marks the record's class.

    A record with a missing value or class adds nothing.

    Parameters
    ----------
    target : str
        Public. The column of classes, at least two.
    matrix : array of shape (k, 1 + n)
        Public. What makes z of a record: see `MappedCoordinates`.
    coefficients : array of shape (K, k)
        Public. Of the score of each class, on the same grid.
    residual : float
        Public. The length that p - e is shrunk to. None is longer than sqrt(2); where all coefficients are 0, all are
        sqrt(1 - 1 / K) long.
    """
    features, residuals = MappedCoordinates.of(schema, columns, matrix), _softmax(schema, target, coefficients)
    pulls = shrunk_pulls(features, coefficients, residuals, residual)
    return gradients_of(pulls, len(matrix), len(coefficients) - 1, residual, (*schema.values(columns), target))


@recipe("weighted_softmax_gradients")
def weighted_softmax_gradients_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    matrix: Array,
    coefficients: Array,
    residual: float,
    weights: Array,
) -> BoundedSum:
    """The sum of w s z (p - e)', in K - 1 contrasts of the classes, where p are probabilities at the record as it is.

    A long record is shrunk by s = min(1, 1 / |z|) in what it adds alone: the gradient of a weighted likelihood, whose
    mean is 0 at the coefficients that the classes were drawn by, whatever s is. A record with a missing value or class
    adds nothing.

    Parameters
    ----------
    target, matrix, coefficients, residual
        Public. As in `softmax_gradients`.
    weights : array of shape (K,)
        Public. The weight w of the records of each class, from 0 to 1.
    """
    features, residuals = MappedCoordinates.of(schema, columns, matrix), _softmax(schema, target, coefficients)
    check_weights(weights, len(coefficients))
    pulls = weighted_pulls(features, coefficients, residuals, residual, weights)
    return gradients_of(pulls, len(matrix), len(coefficients) - 1, residual, (*schema.values(columns), target))


def _softmax(schema: Schema, target: str, coefficients: Array) -> Residuals:
    """Contrasts of p - e."""
    classes = len(schema.category(target).values)
    if not 2 <= classes <= MOST_CLASSES or len(coefficients) != classes:
        obstacle = f"there are {classes} classes and coefficients of {len(coefficients)}"
        raise ParameterError("gradients", obstacle, f"Give coefficients for each of 2 to {MOST_CLASSES} classes.")
    basis, whole = contrasts(classes), math.ldexp(1.0, CELLS)

    def residuals(scores: Array, targets: Array) -> Array:
        weights = np.rint(WHOLE * exponential(scores - scores.max(axis=0)))
        away = np.rint(weights * (whole / weights.sum(axis=0)))
        away[np.where(np.isnan(targets), 0, targets).astype(np.intp), np.arange(len(targets))] -= whole
        return np.where(np.isnan(targets), 0.0, np.rint(basis @ away))

    return residuals


def exponential(values: Array) -> Array:
    """The exponential of numbers that are not positive, to seven digits, and to the same last bit on every machine.

    2^(k + f) with |f| <= 1/2: a polynomial of f, of additions and products alone.
    """
    powers = np.maximum(values, -40.0) * (1 / math.log(2))
    nearest = np.rint(powers)
    rest = (powers - nearest) * math.log(2)
    series = np.ones_like(rest)
    for k in range(7, 0, -1):
        series = 1 + series * rest / k
    return np.ldexp(series, nearest.astype(np.int64))
