"""How far a smooth ANOVA model is off: clipped residuals times features, and how large residuals are.

A residual is computed at the record itself, and its pull alone is shrunk: a record adds s clip(r) f, where f are its
features, s = min(1, reach / |f|) and r its residual. So what solves sum s clip(r) f = 0 is a weighted fit of all
records: long records are not taken for shorter ones.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_positive, check_size
from discreet.core.grid import Array, Grid
from discreet.questions.gradients.anova_features import FEATURES, AnovaFeatures, Bases
from discreet.questions.gradients.anova_scores import RESIDUALS, AnovaScores, Loss
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import MOST_NUMBERS, recipe
from discreet.questions.tables.contingency import ONE_CELL
from discreet.questions.tables.domain import Codes
from discreet.schema.schema import Schema

ASKED = "gradients of an ANOVA model"
PULLS = 14  # bits of a residual that is as long as it may be
SLICE = 2**12  # records at a time
OCTAVES, PARTS = 16, 3  # sizes of residuals that are told apart: so many octaves, each in parts


@recipe("anova_gradients")
def anova_gradients_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    sizes: tuple[int, ...],
    starts: Array,
    functions: Array,
    scales: tuple[float, ...],
    paired: tuple[int, ...],
    products: int,
    reach: float,
    norm: Norm,
    coefficients: Array,
    loss: Loss,
    center: tuple[float, ...],
    unit: float,
    quantile: float,
    residual: float,
) -> BoundedSum:
    """The sum of s clip(r) f, in units of `residual`, as an array of shape (outputs, features).

    A record without a target adds nothing.

    Parameters
    ----------
    columns : tuple of str
        Public. Numbers and categories.
    target : str
        Public. A category for the logistic loss, else a number.
    sizes, starts, functions, scales, paired, products : tuples and arrays
        Public. The functions: see `Bases`.
    reach : float
        Public. The length that features are shrunk to.
    norm : {"l1", "l2"}
        Public. In which all lengths are measured.
    coefficients : array of shape (outputs, features)
        Public. Those of the scores so far.
    loss : {"logistic", "squared", "quantile", "poisson", "gamma"}
        Public. What residuals are derivatives of.
    center : tuple of float
        Public. The scores of the contrasts of classes that all records have beside their features; or one number, which
        is taken off the target.
    unit : float
        Public. What the target is divided by then.
    quantile : float
        Public. The level of the quantile, for that loss.
    residual : float
        Public. The length that residuals are shrunk to.
    """
    bases = Bases(sizes, starts, functions, scales, paired, products)
    features = AnovaFeatures(schema, columns, bases, reach, norm)
    scores = AnovaScores(schema, features, target, coefficients, loss, center, unit, quantile)
    check_positive(ASKED, "residual", residual, 2.0**-16, 2.0**9)
    outputs, size = coefficients.shape
    check_size(ASKED, outputs * size, MOST_NUMBERS)
    grid, longest = Grid(FEATURES.exponent - PULLS), math.floor(residual / RESIDUALS.step)

    def pulls(records: Array) -> tuple[Codes, Array]:
        """The cells of records that have a target, and s clip(r), in whole steps of which `residual` has 2**PULLS."""
        cells, away = scores.residuals(records)
        factors = features.factors(cells) * (math.ldexp(1.0, PULLS) / np.maximum(lengths(away, norm), longest))
        return cells, np.trunc(away * factors)

    def of(records: Array) -> Array:
        added, there = np.zeros((len(records), outputs, size)), ~np.isnan(records[:, -1])
        cells, pull = pulls(records)
        added[there] = pull.T[:, :, None] * features.features(cells).T[:, None, :]
        return grid.values(added.reshape(len(records), outputs * size))

    def total(records: Array) -> Array:
        sums = np.zeros((outputs, size))
        for start in range(0, len(records), SLICE):
            cells, pull = pulls(records[start : start + SLICE])
            sums += added_pulls(features, cells, pull)
        return sums.ravel()

    return BoundedSum(of, Bound(norm, reach * (1 + 2.0**-30)), (*schema.values(columns), target), grid, total)


@recipe("anova_residuals")
def anova_residuals_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    sizes: tuple[int, ...],
    starts: Array,
    functions: Array,
    scales: tuple[float, ...],
    paired: tuple[int, ...],
    products: int,
    coefficients: Array,
    loss: Loss,
    center: tuple[float, ...],
    unit: float,
) -> BoundedSum:
    """How many residuals of a number are of which size: one mark for each record, in one of `residual_sizes`.

    Parameters
    ----------
    columns : tuple of str
        Public. Numbers and categories.
    target : str
        Public. A number.
    sizes, starts, functions, scales, paired, products : tuples and arrays
        Public. The functions: see `Bases`.
    coefficients, loss, center, unit : array, text, tuple and number
        Public. As for `anova_gradients`; of the loss "quantile", the sizes are those of differences.
    """
    check_one_of(ASKED, "loss", loss, ("squared", "quantile", "poisson", "gamma"))
    bases = Bases(sizes, starts, functions, scales, paired, products)
    features = AnovaFeatures(schema, columns, bases, 1.0, "l2")
    kind: Loss = "squared" if loss == "quantile" else loss
    scores = AnovaScores(schema, features, target, coefficients, kind, center, unit, 0.5)
    ends = np.rint(residual_sizes() / RESIDUALS.step)

    def places(records: Array) -> Codes:
        _, away = scores.residuals(records)
        return np.searchsorted(ends[:-1], np.abs(away[0]))

    def of(records: Array) -> Array:
        marks, there = np.zeros((len(records), len(ends))), np.flatnonzero(~np.isnan(records[:, -1]))
        marks[there, places(records)] = 1.0
        return marks

    def total(records: Array) -> Array:
        slices = [records[start : start + SLICE] for start in range(0, len(records), SLICE)]
        counts = [np.bincount(places(some), minlength=len(ends)) for some in slices]
        return np.sum([np.zeros(len(ends)), *counts], axis=0)

    return BoundedSum(of, ONE_CELL, (*schema.values(columns), target), Grid(0), total)


def residual_sizes() -> Array:
    """The upper ends of the sizes that are told apart, in units of the target; the last holds all beyond, too.

    Examples
    --------
    >>> residual_sizes()[[0, -2, -1]].round(4)
    array([1.0000e-04, 3.1748e+00, 4.0000e+00])
    """
    return np.asarray(2.0 ** (2 - np.arange(OCTAVES * PARTS)[::-1] / PARTS))


def lengths(away: Array, norm: Norm) -> Array:
    """The length of each column of whole steps; their squares add up without error, in every order."""
    if len(away) == 1:
        return np.abs(away[0])
    return np.abs(away).sum(axis=0) if norm == "l1" else np.sqrt(np.square(away).sum(axis=0))


def added_pulls(features: AnovaFeatures, cells: Codes, pull: Array) -> Array:
    """The sum of pulls times features, of shape (outputs, features): in cells first, and by products of halves.

    What one record adds to a feature is less than 2**(20 + PULLS) times `reach`, so a slice adds up without error.
    """
    halves, sums = features.factors_of_pairs(cells), []
    k, paired = features.bases.products, range(len(features.halves))
    blocks = [(slice(i * k, i * k + k), slice(j * k, j * k + k)) for i in paired for j in paired if i < j]
    for own in pull:
        parts = [np.array([features.constant * own.sum()])]
        for there, table in zip(cells, features.singles, strict=True):
            parts.append(table @ np.bincount(there, own, table.shape[1]))
        both = (own * halves) @ halves.T
        sums.append(np.concatenate(parts + [both[block].ravel() for block in blocks]))
    return np.array(sums)
