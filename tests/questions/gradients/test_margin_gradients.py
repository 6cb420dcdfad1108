"""Gradients of margins: those of the formula."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.questions.gradients.margin_gradients import Loss, margin_gradients_of
from tests.questions.trial import SCHEMA, Trial, X, summed

MATRIX = np.array([[0.5, 0.25, 0.0], [-0.125, 0.5, 0.75]])
COEFFICIENTS = np.array([[1.0, -0.5], [0.0, 2.0], [0.25, 0.25]])
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
    )
}


@pytest.mark.parametrize("loss", ["huber_hinge", "perceptron"])
def test_the_sum_is_that_of_the_formula(loss: Loss) -> None:
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
