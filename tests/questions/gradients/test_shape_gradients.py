"""Gradients of shapes: residuals of the formula, in the cells of one column, shrunk."""

from __future__ import annotations

import numpy as np

from discreet.questions.gradients.shape_gradients import shape_gradients_of
from tests.questions.trial import SCHEMA, Trial, summed

SHAPES = np.random.default_rng(5).normal(size=(3, 8))
START = {
    "columns": ("x", "y"),
    "target": "kind",
    "bins": 4,
    "shapes": SHAPES,
    "place": 1,
    "loss": "logistic",
    "residual": 0.5,
    "norm": "l1",
}
TRIALS = {
    "shape_gradients": Trial(
        START,
        "8d410324171e",
        forged=[
            {"shapes": SHAPES[:2]},
            {"shapes": SHAPES * 1e9},
            {"place": 3},
            {"loss": "squared"},
            {"residual": 3.0},
            {"norm": "linf"},
        ],
    )
}
RNG = np.random.default_rng(3)
X = np.column_stack([RNG.uniform(-10, 110, 400), RNG.uniform(0, 1, 400)])
CELLS = np.column_stack([(X[:, 0] + 10) // 30, X[:, 1] // 0.25]).astype(int)


def scores(shapes: np.ndarray) -> np.ndarray:
    return np.asarray(shapes[:, CELLS[:, 0]] + shapes[:, 4 + CELLS[:, 1]])


def added(residuals: np.ndarray, longest: float, place: int) -> np.ndarray:
    shrunk = residuals * np.minimum(longest / np.maximum(np.linalg.norm(residuals, axis=0), 1e-12), 1.0)
    return np.stack([np.bincount(CELLS[:, place], own, 4) for own in shrunk])


def test_the_sums_are_those_of_the_formula_for_classes() -> None:
    for target, classes in (("kind", 3), ("two", 2)):
        y = RNG.integers(0, classes, 400)
        shapes = SHAPES if classes == 3 else SHAPES[:1]
        both = scores(shapes) if classes == 3 else np.concatenate([np.zeros((1, 400)), scores(shapes)])
        weights = np.exp(both)
        residuals = (np.eye(classes)[:, y] - weights / weights.sum(axis=0))[-len(shapes) :]
        rows = np.vstack([np.column_stack([X, y]), [[np.nan, 0.5, 1.0], [1.0, 0.5, np.nan]]])
        whole = shape_gradients_of(SCHEMA, ("x", "y"), target, 4, shapes, 2, "logistic", 0.5, "l2")
        np.testing.assert_allclose(summed(whole, rows), added(residuals, 0.5, 0).sum(axis=1), atol=2e-3)
        for place, longest in ((0, 0.5), (1, 2.0)):
            question = shape_gradients_of(SCHEMA, ("x", "y"), target, 4, shapes, place, "logistic", longest, "l2")
            np.testing.assert_allclose(
                summed(question, rows).reshape(-1, 4), added(residuals, longest, place), atol=2e-3
            )


def test_the_sums_are_those_of_the_formula_for_numbers() -> None:
    y = RNG.uniform(-1e48, 1e48, 400)
    question = shape_gradients_of(SCHEMA, ("x", "y"), "far", 4, SHAPES[:1], 0, "squared", 0.5, "l1")
    found = summed(question, np.column_stack([X, y]))
    np.testing.assert_allclose(found, added(y / 1e48 - scores(SHAPES[:1]), 0.5, 0)[0], atol=2e-3)
