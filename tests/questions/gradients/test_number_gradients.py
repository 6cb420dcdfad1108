"""Gradients of the losses of a number: those of the formula, of records as they are, shrunk in what they add."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.questions.gradients.number_gradients import NumberLoss, number_gradients_of
from tests.questions.gradients.test_gradients import COEFFICIENTS, MATRIX
from tests.questions.trial import SCHEMA, Trial, X, summed

ONE = COEFFICIENTS[:1]
START = {
    "columns": ("y",),
    "target": "x",
    "matrix": MATRIX[:, :2],
    "coefficients": ONE,
    "loss": "poisson",
    "center": 0.0,
    "unit": 40.0,
    "quantile": 0.5,
    "residual": 1.0,
}
TRIALS = {
    "number_gradients": Trial(
        START,
        "b1c2318dfa26",
        forged=[
            {"matrix": MATRIX / 3},
            {"coefficients": COEFFICIENTS[:2]},
            {"loss": "logistic"},
            {"unit": 0.0},
            {"center": float("nan")},
            {"quantile": 1.0},
            {"residual": 0.0},
            {"target": "kind"},
        ],
    )
}


@pytest.mark.parametrize("loss", ["squared", "poisson", "gamma", "quantile"])
def test_the_sum_is_that_of_the_formula_for_the_record_itself_and_its_pull_is_shrunk(loss: NumberLoss) -> None:
    rng = np.random.default_rng(3)
    records = np.column_stack([rng.uniform(0, 1, len(X)), X])
    matrix = 4 * MATRIX[:, :2]
    z = np.column_stack([np.ones(len(X)), (records[:, 0] - 0.5) / 0.5]) @ matrix.T
    score, scaled = (z @ ONE.T)[:, 0], (X - 10.0) / 40.0
    r = {
        "squared": score - scaled,
        "poisson": np.exp(score) - scaled,
        "gamma": 1 - scaled * np.exp(-score),
        "quantile": (scaled < score) - 0.25,
    }
    z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1.0)
    question = number_gradients_of(SCHEMA, ("y",), "x", matrix, ONE, loss, 10.0, 40.0, 0.25, 2.0)
    missing = np.array([[np.nan, 30.0], [0.5, np.nan]])
    found = summed(question, np.vstack([records, missing]))
    np.testing.assert_allclose(found, z.T @ np.clip(r[loss], -2.0, 2.0), atol=0.1)
