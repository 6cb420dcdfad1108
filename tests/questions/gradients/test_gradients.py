"""Gradients of linear scores: those of the formula, in contrasts, of records that are shrunk."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.questions.gradients.gradients import (
    Loss,
    contrasts,
    exponential,
    margin_gradients_of,
    softmax_gradients_of,
)
from tests.questions.trial import SCHEMA, Trial, X, summed

MATRIX = np.array([[0.5, 0.25, 0.0], [-0.125, 0.5, 0.75]])
COEFFICIENTS = np.array([[1.0, -0.5], [0.0, 2.0], [0.25, 0.25]])
WEIGHTS = np.array([0.5, 1.0, 0.3])
START = {
    "columns": ("x", "y"),
    "target": "kind",
    "matrix": MATRIX,
    "coefficients": COEFFICIENTS,
    "residual": 1.0,
}
TRIALS = {
    "softmax_gradients": Trial(
        START,
        "7646988a36b9",
        forged=[{"matrix": MATRIX / 3}, {"coefficients": COEFFICIENTS * 1e-9}, {"coefficients": COEFFICIENTS[:2]}],
    ),
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
    "weighted_softmax_gradients": Trial(
        {**START, "weights": WEIGHTS},
        "x",
        forged=[{"matrix": MATRIX / 3}, {"weights": WEIGHTS * 2}, {"weights": -WEIGHTS}, {"weights": WEIGHTS[:2]}],
    ),
    "weighted_margin_gradients": Trial(
        {**START, "loss": "huber_hinge", "weights": WEIGHTS},
        "x",
        forged=[{"coefficients": COEFFICIENTS[:2]}, {"weights": WEIGHTS * 2}, {"weights": WEIGHTS * np.nan}],
    ),
}


def test_the_sum_of_the_logistic_loss_is_that_of_the_formula() -> None:
    rng = np.random.default_rng(3)
    records = np.column_stack([X, rng.uniform(0, 1, len(X)), rng.integers(0, 3, len(X))])
    z = np.column_stack([np.ones(len(X)), (records[:, :2] - [50.0, 0.5]) / [60.0, 0.5]]) @ MATRIX.T
    z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1.0)
    p = np.exp(z @ COEFFICIENTS.T)
    r = p / p.sum(axis=1, keepdims=True) - np.eye(3)[records[:, 2].astype(int)]
    missing = np.array([[np.nan, 0.5, 1.0], [50.0, 0.5, np.nan]])
    for residual in (1.5, 0.5):
        found = summed(
            softmax_gradients_of(SCHEMA, ("x", "y"), "kind", MATRIX, COEFFICIENTS, residual),
            np.vstack([records, missing]),
        )
        shrunk = r * np.minimum(residual / np.linalg.norm(r, axis=1, keepdims=True), 1.0)
        np.testing.assert_allclose(found.reshape(2, 2), z.T @ shrunk @ contrasts(3).T, atol=0.05)


def test_a_record_is_answered_alike_alone_and_among_others() -> None:
    rng = np.random.default_rng(4)
    records = np.column_stack([X, rng.uniform(0, 1, len(X)), rng.integers(0, 3, len(X))])
    question = softmax_gradients_of(SCHEMA, ("x", "y"), "kind", MATRIX, COEFFICIENTS, 1.0)
    alone = [question.steps(records[i : i + 1])[0] for i in range(len(records))]
    np.testing.assert_array_equal(question.steps(records), alone)


def test_the_exponential_has_seven_digits() -> None:
    values = -np.linspace(0, 39, 10_000)
    np.testing.assert_allclose(exponential(values), np.exp(values), rtol=2e-8)
    assert exponential(np.array([-1e300]))[0] < 1e-17


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
