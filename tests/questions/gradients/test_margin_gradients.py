"""Gradients of losses of margins: those of the formula, of records that are shrunk, and of records as they are."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.questions.gradients.margin_gradients import Loss, margin_gradients_of, weighted_margin_gradients_of
from tests.questions.gradients.test_gradients import COEFFICIENTS, MATRIX, START, WEIGHTS
from tests.questions.trial import SCHEMA, Trial, X, summed

TRIALS = {
    "margin_gradients": Trial(
        {
            "columns": ("x", "y"),
            "target": "kind",
            "matrix": MATRIX,
            "coefficients": COEFFICIENTS,
            "loss": "huber_hinge",
            "residual": 1.0,
        },
        "64be6d36fb62",
        forged=[{"matrix": MATRIX / 3}, {"coefficients": COEFFICIENTS[:2]}, {"loss": "square"}, {"residual": 0.0}],
    ),
    "weighted_margin_gradients": Trial(
        {**START, "loss": "huber_hinge", "weights": WEIGHTS},
        "b75671e25f74",
        forged=[{"coefficients": COEFFICIENTS[:2]}, {"weights": WEIGHTS * 2}, {"weights": WEIGHTS * np.nan}],
    ),
}


@pytest.mark.parametrize("loss", ["huber_hinge", "perceptron"])
def test_the_sum_of_margins_is_that_of_the_formula(loss: Loss) -> None:
    rng = np.random.default_rng(3)
    for target, classes, coefficients in (("kind", 3, COEFFICIENTS), ("two", 2, COEFFICIENTS[:1])):
        records = np.column_stack([X, rng.uniform(0, 1, len(X)), rng.integers(0, classes, len(X))])
        z = np.column_stack([np.ones(len(X)), (records[:, :2] - [50.0, 0.5]) / [60.0, 0.5]]) @ MATRIX.T
        z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1.0)
        signs = 2 * np.eye(classes)[records[:, 2].astype(int)][:, -len(coefficients) :] - 1
        margins = signs * (z @ coefficients.T)
        slope = np.clip(1 - margins / 2, 0, 1) if loss == "huber_hinge" else margins <= 0
        missing = np.array([[np.nan, 0.5, 1.0], [50.0, 0.5, np.nan]])
        question = margin_gradients_of(SCHEMA, ("x", "y"), target, MATRIX, coefficients, loss, 2.0)
        found = summed(question, np.vstack([records, missing])).reshape(2, -1)
        np.testing.assert_allclose(found, z.T @ (-signs * slope), atol=0.1)


def test_weighted_margins_are_those_of_the_record_itself_and_its_pull_is_shrunk() -> None:
    rng = np.random.default_rng(3)
    for target, classes, coefficients in (("kind", 3, COEFFICIENTS), ("two", 2, COEFFICIENTS[:1])):
        records = np.column_stack([X, rng.uniform(0, 1, len(X)), rng.integers(0, classes, len(X))])
        kinds = records[:, 2].astype(int)
        z = np.column_stack([np.ones(len(X)), (records[:, :2] - [50.0, 0.5]) / [60.0, 0.5]]) @ (4 * MATRIX).T
        signs = 2 * np.eye(classes)[kinds][:, -len(coefficients) :] - 1
        slope = np.clip(1 - signs * (z @ coefficients.T) / 2, 0, 1) * WEIGHTS[kinds][:, None]
        s = 1 / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1.0)
        question = weighted_margin_gradients_of(
            SCHEMA, ("x", "y"), target, 4 * MATRIX, coefficients, "huber_hinge", 2.0, WEIGHTS[:classes]
        )
        np.testing.assert_allclose(summed(question, records).reshape(2, -1), (s * z).T @ (-signs * slope), atol=0.1)
