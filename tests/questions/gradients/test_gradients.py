"""Gradients of linear scores: those of the formula, in contrasts, of records that are shrunk."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.gradients import gradients
from discreet.questions.gradients.gradients import (
    contrasts,
    exponential,
    softmax_gradients_of,
    weighted_softmax_gradients_of,
)
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Schema
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
    "weighted_softmax_gradients": Trial(
        {**START, "weights": WEIGHTS},
        "db39438789a5",
        forged=[{"matrix": MATRIX / 3}, {"weights": WEIGHTS * 2}, {"weights": -WEIGHTS}, {"weights": WEIGHTS[:2]}],
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


def weighted(residual: float = 1.0, steep: float = 1.0) -> BoundedSum:
    return weighted_softmax_gradients_of(
        SCHEMA, ("x", "y"), "kind", MATRIX * steep, COEFFICIENTS * steep, residual, WEIGHTS
    )


def some_records() -> Array:
    rng = np.random.default_rng(3)
    return np.column_stack([X, rng.uniform(0, 1, len(X)), rng.integers(0, 3, len(X))])


def test_weighted_residuals_are_those_of_the_record_itself_and_its_pull_is_shrunk() -> None:
    records = some_records()
    z = np.column_stack([np.ones(len(X)), (records[:, :2] - [50.0, 0.5]) / [60.0, 0.5]]) @ (4 * MATRIX).T
    p = np.exp(z @ (4 * COEFFICIENTS).T)
    kinds = records[:, 2].astype(int)
    r = p / p.sum(axis=1, keepdims=True) - np.eye(3)[kinds]
    missing = np.array([[np.nan, 0.5, 1.0], [50.0, 0.5, np.nan]])
    s = 1 / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1.0)
    assert np.mean(s < 0.9) > 0.5
    for residual in (1.5, 0.5):
        shrunk = r * np.minimum(residual / np.linalg.norm(r, axis=1, keepdims=True), 1.0) * WEIGHTS[kinds][:, None]
        found = summed(weighted(residual, 4.0), np.vstack([records, missing]))
        np.testing.assert_allclose(found.reshape(2, 2), (s * z).T @ shrunk @ contrasts(3).T, atol=0.05)


def test_of_two_classes_a_residual_is_cut_at_the_length_itself() -> None:
    """One contrast is left of it: no step is lost to rounding, whichever class the record is of."""
    schema = Schema({**SCHEMA.columns, "flag": Category(["no", "yes"])})
    ends = np.array(np.meshgrid([-10.0, 110.0], [0.0, 1.0], [0.0, 1.0])).reshape(3, -1).T

    def found(residual: float) -> Array:
        steep = 64 * COEFFICIENTS[:2]
        asked = weighted_softmax_gradients_of(schema, ("x", "y"), "flag", MATRIX, steep, residual, np.ones(2))
        return np.asarray(np.linalg.norm(asked.of(ends), axis=1))

    whole = 2.0 * np.floor(np.sqrt(0.5) * 2**15)  # steps of the longest residual
    for length in (0.5, 0.3, 1.0):
        for target in (0.0, 1.0):
            wrong = (found(2.0) > 0) & (ends[:, 2] == target)  # the other class has the higher score
            left = (found(length)[wrong] / found(2.0)[wrong]).min()
            np.testing.assert_allclose(left, np.floor(length * 2**15) / whole, rtol=2.0**-40)


def test_the_sum_of_many_slices_is_that_of_all_records(monkeypatch: pytest.MonkeyPatch) -> None:
    question, records = weighted(1.25, 1.0), some_records()
    assert question.total is not None
    monkeypatch.setattr(gradients, "SLICE", 16)
    np.testing.assert_array_equal(question.total(records), question.steps(records).sum(axis=0))
    assert not question.total(records[:0]).any()


def longest(question: BoundedSum) -> float:
    """The longest vector that records at the ends of their bounds, and between, add."""
    ends = np.array(np.meshgrid([-10.0, 20.0, 50.0, 110.0], [0.0, 0.01, 0.5, 1.0], [0.0, 1.0, 2.0])).reshape(3, -1).T
    return float(np.linalg.norm(question.grid.values(question.steps(ends)), axis=1).max())


def test_no_record_adds_more_than_the_bound_however_long_it_is_and_great_its_scores_are() -> None:
    """Up to scores of 2**20, whose exponentials no number holds."""
    for steep in (1.0, 64.0, 2.0**14):
        question = weighted(1.25, steep)
        assert 0.9 * 1.25 < longest(question) <= question.bound.radius


def test_a_twin_that_does_not_shrink_what_a_record_adds_breaks_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    question = weighted(1.25, 64.0)  # built before: a twin is refused when it is tried
    monkeypatch.setattr(gradients, "shrink", lambda steps, _: steps)
    ends = np.array([[110.0, 1.0, 0.0]])
    assert np.linalg.norm(question.of(ends)) > 2 * question.bound.radius


def test_weights_with_which_a_record_would_add_more_than_its_bound_are_refused() -> None:
    for wrong in (2 * WEIGHTS, -WEIGHTS, WEIGHTS * np.nan, WEIGHTS[:2]):
        with pytest.raises(ParameterError, match="weights"):
            weighted_softmax_gradients_of(SCHEMA, ("x", "y"), "kind", MATRIX, COEFFICIENTS, 1.0, wrong)
