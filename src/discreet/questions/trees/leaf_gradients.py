"""How far a sum of trees is off, in each leaf of each tree: what the next values of all leaves are computed from."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_positive, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.gradients.anova_gradients import PULLS, lengths
from discreet.questions.gradients.anova_scores import (
    COEFFICIENTS,
    RESIDUALS,
    STEEPEST,
    Residuals,
    class_residuals,
    number_residuals,
)
from discreet.questions.gradients.gradients import MOST_CLASSES
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.trees.forest_leaves import MOST, check_trees, leaves_of
from discreet.schema.schema import Category, Schema

ASKED = "gradients of leaves"
SLICE = 2**12  # records at a time
GRADIENTS = Grid(-PULLS)


@recipe("leaf_gradients")
def leaf_gradients_of(
    schema: Schema,
    columns: tuple[str, ...],
    target: str,
    features: Array,
    cuts: Array,
    heights: Array,
    center: tuple[float, ...],
    unit: float,
    residual: float,
    norm: Norm,
) -> BoundedSum:
    """The sum of residuals of all records and of those in each leaf, and the sum of the squares of their lengths.

    All of it in units of `residual`, to which each residual is shrunk: for each output one number for all records and
    one for each leaf of each tree; then, once, the squares. A record without a target adds nothing; a missing value is
    below every cut.

    Parameters
    ----------
    columns : tuple of str
        Public. The columns that are split, numbers or categories; a category by its place in the list.
    target : str
        Public. A category, whose residuals are marks less probabilities, in contrasts of the classes; or a number.
    features, cuts : arrays of shape (trees, 2**depth - 1)
        Public. As for `forest_leaves`.
    heights : array of shape (outputs, 1 + trees * leaves)
        Public. What is added to each score so far, of all records and of those in each leaf.
    center : tuple of float
        Public. The scores of the contrasts of classes that all records have beside; or one number, which is taken off
        the target.
    unit : float
        Public. What the target is divided by then.
    residual : float
        Public. The length that residuals are shrunk to.
    norm : {"l1", "l2"}
        Public. In which all lengths are measured.
    """
    schema.values(columns)
    check_one_of(ASKED, "norm", norm, ("l1", "l2"))
    check_trees(features, cuts, len(columns))
    check_positive(ASKED, "unit", unit, 2.0**-900, 2.0**900)
    check_positive(ASKED, "residual", residual, 2.0**-16, 2.0**9)
    marks = isinstance(schema.columns.get(target), Category)
    outputs = len(schema.category(target).values) - 1 if marks else 1
    check_whole(ASKED, "number of classes less one", outputs, 1, MOST_CLASSES - 1)
    trees, leaves = len(features), features.shape[1] + 1
    size = 1 + trees * leaves
    check_size(ASKED, outputs * size, MOST)
    _check_heights(heights, (outputs, size), center, marks)
    residuals = class_residuals(outputs + 1) if marks else _number_residuals(schema, target, center, unit)
    whole = COEFFICIENTS.values(COEFFICIENTS.cut(heights))
    level = whole[:, :1] + (np.array(center)[:, None] if marks else 0.0)
    splits, starts = features.astype(np.intp), 1 + leaves * np.arange(trees)[:, None]
    longest = math.floor(residual / RESIDUALS.step)

    def pulls(known: Array) -> tuple[NDArray[np.intp], Array]:
        """The coordinates of the leaves of records that have a target, and their residuals, in whole steps."""
        places = starts + leaves_of(known[:, :-1], splits, cuts)
        scores = np.zeros((outputs, len(known)))
        for own in places:
            scores += whole[:, own]
        away = residuals(np.clip(level + scores, -STEEPEST, STEEPEST), known[:, -1])
        return places, np.trunc(away * (math.ldexp(1.0, PULLS) / np.maximum(lengths(away, norm), longest)))

    def squares(pull: Array) -> Array:
        return np.asarray(np.trunc(np.square(lengths(pull, norm)) / math.ldexp(1.0, PULLS)))

    def of(records: Array) -> Array:
        there, added = np.flatnonzero(~np.isnan(records[:, -1])), np.zeros((len(records), outputs, size))
        sizes = np.zeros((len(records), 1))
        places, pull = pulls(records[there])
        added[there, :, 0], sizes[there, 0] = pull.T, squares(pull)
        for own in places:
            added[there, :, own] = pull.T
        return GRADIENTS.values(np.hstack([added.reshape(len(records), outputs * size), sizes]))

    def total(records: Array) -> Array:
        added, sizes = np.zeros((outputs, size)), 0.0
        for start in range(0, len(records), SLICE):
            some = records[start : start + SLICE]
            places, pull = pulls(some[~np.isnan(some[:, -1])])
            added[:, 0] += pull.sum(axis=1)
            sizes += float(squares(pull).sum())
            for own in places:
                added += np.stack([np.bincount(own, one, size) for one in pull])
        return np.append(added.ravel(), sizes)

    times = 2.0 + trees  # all records, each tree, and the squares
    bound = Bound(norm, (times if norm == "l1" else math.sqrt(times)) * (1 + 2.0**-30))
    return BoundedSum(of, bound, (*columns, target), GRADIENTS, total)


def _check_heights(heights: Array, shape: tuple[int, int], center: tuple[float, ...], marks: bool) -> None:
    """Refuse what does not belong to so many scores and leaves, or could make scores that are not exact."""
    fitting = heights.shape == shape and len(center) == shape[0] and np.abs(heights).max() <= STEEPEST
    if not fitting or (marks and not np.abs(center).max() <= STEEPEST):
        obstacle = f"the heights of {shape[0]} scores in {shape[1] - 1} leaves and everywhere are {heights.shape}"
        raise ParameterError(ASKED, obstacle, f"Give one number for each, of {STEEPEST:g} at most, and a center.")


def _number_residuals(schema: Schema, target: str, center: tuple[float, ...], unit: float) -> Residuals:
    schema.number(target)
    return number_residuals("squared", center[0], unit, 0.5)
