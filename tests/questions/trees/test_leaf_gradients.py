"""Gradients of leaves: what is off in each leaf, in units of the length that residuals are shrunk to."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from discreet.core.errors import ParameterError
from discreet.questions.gradients.gradients import contrasts
from discreet.questions.trees.forest_leaves import leaves_of
from discreet.questions.trees.leaf_gradients import leaf_gradients_of
from tests.questions.trial import SCHEMA, Trial, summed

FEATURES = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
CUTS = np.array([[50.0, 0.5, 80.0], [0.5, 0.25, 0.75]])
RNG = np.random.default_rng(0)
HEIGHTS = np.round(RNG.normal(size=(2, 9)), 3)
RECORDS = np.column_stack([RNG.uniform(-10, 110, 400), RNG.uniform(0, 1, 400), RNG.integers(0, 3, 400)])
CLASSES: dict[str, Any] = {
    "columns": ("x", "y"),
    "target": "kind",
    "features": FEATURES,
    "cuts": CUTS,
    "heights": HEIGHTS,
    "center": (0.3, -0.2),
    "unit": 1.0,
    "residual": math.sqrt(2 / 3),
    "norm": "l2",
}
NUMBERS = {**CLASSES, "columns": ("kind", "y"), "target": "x", "heights": HEIGHTS[:1], "center": (40.0,), "unit": 20.0}
TRIALS = {
    "leaf_gradients": Trial(
        CLASSES,
        "eeb7860ebe38",
        forged=[
            {"features": FEATURES + 1},
            {"cuts": CUTS[:1]},
            {"heights": HEIGHTS[:, 1:]},
            {"heights": 1e3 * HEIGHTS},
            {"center": (0.3,)},
            {"center": (0.3, 1e3)},
            {"unit": 0.0},
            {"residual": 0.0},
            {"norm": "linf"},
            {"target": "note"},
        ],
        portable=False,
    ),
}


def expected(away: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Sums of residuals, of shape (outputs, n), of all records and in each leaf; then those of squared lengths."""
    sums = [[own.sum(), *(own[row == leaf].sum() for row in places for leaf in range(4))] for own in away]
    return np.append(np.ravel(sums), np.square(away).sum())


def shrunk(away: np.ndarray, longest: float) -> np.ndarray:
    return away / np.maximum(np.linalg.norm(away, axis=0), longest)


def test_residuals_of_classes_are_marks_less_probabilities_in_contrasts() -> None:
    found = summed(leaf_gradients_of(SCHEMA, **CLASSES), np.vstack([RECORDS, [[30.0, 0.5, np.nan]]]))
    places, basis = leaves_of(RECORDS[:, :2], FEATURES.astype(int), CUTS), contrasts(3)
    scores = HEIGHTS[:, :1] + np.array([[0.3], [-0.2]]) + HEIGHTS[:, 1 + places[0]] + HEIGHTS[:, 5 + places[1]]
    marks = np.eye(3)[RECORDS[:, 2].astype(int)].T
    away = shrunk(basis @ (marks - softmax(basis.T @ scores, axis=0)), math.sqrt(2 / 3))
    np.testing.assert_allclose(found, expected(away, places), atol=0.06)


def test_residuals_of_a_number_are_differences_in_units_and_missing_features_go_left() -> None:
    records = np.column_stack([RNG.integers(0, 3, 300), RNG.uniform(0, 1, 300), RNG.uniform(-10, 110, 300)])
    records[:20, 1], records[20:30, 2] = np.nan, np.nan
    found = summed(leaf_gradients_of(SCHEMA, **NUMBERS), records)
    known = records[~np.isnan(records[:, 2])]
    places = leaves_of(known[:, :2], FEATURES.astype(int), CUTS)
    assert (places[1][np.isnan(known[:, 1])] == 0).all()
    scores = HEIGHTS[0, 0] + HEIGHTS[0, 1 + places[0]] + HEIGHTS[0, 5 + places[1]]
    away = shrunk(((known[:, 2] - 40) / 20 - scores)[None, :], math.sqrt(2 / 3))
    np.testing.assert_allclose(found, expected(away, places), atol=0.06)


def test_no_record_adds_more_than_the_bound_and_some_add_nearly_that() -> None:
    """Of classes and of numbers, in both norms."""
    grid = np.array(list(itertools.product((-10.0, 30.0, 60.0, 110.0), (0.1, 0.4, 0.6, 0.9), (0.0, 1.0, 2.0))))
    far = np.array(list(itertools.product((0.0, 1.0, 2.0), (0.1, 0.4, 0.6, 0.9), (-10.0, 35.0, 110.0))))
    for fields, rows in ((CLASSES, grid), (NUMBERS, far)):
        for norm, order in (("l1", 1), ("l2", 2)):
            question = leaf_gradients_of(SCHEMA, **{**fields, "norm": norm})
            lengths = np.linalg.norm(question.of(rows), ord=order, axis=1)
            assert 0.97 * question.bound.radius < lengths.max() <= question.bound.radius
            assert question.bound.radius < (4 if norm == "l1" else 2) * (1 + 1e-6)


def test_heights_that_do_not_belong_to_the_trees_or_are_too_steep_are_refused() -> None:
    for wrong in (HEIGHTS[:, 1:], np.hstack([HEIGHTS, HEIGHTS]), 1e3 * HEIGHTS):
        with pytest.raises(ParameterError, match="Give one number for each"):
            leaf_gradients_of(SCHEMA, **{**CLASSES, "heights": wrong})
