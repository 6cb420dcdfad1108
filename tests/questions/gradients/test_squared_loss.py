"""The coefficients of squared errors: the polynomial that they stand for, and their bound in l1."""

from __future__ import annotations

import numpy as np

from discreet.questions.gradients.squared_loss import squared_loss_of
from discreet.schema.schema import Category, Number, Schema
from tests.questions.trial import Trial, summed

TRIALS = {
    "squared_loss": Trial(
        {"columns": ("x", "y"), "target": "kind"}, "e12cfafa3be5", forged=[{"target": "only"}, {"columns": ()}]
    )
}
SCHEMA = Schema({"a": Number(0, 4), "b": Number(-1, 1), "t": Number(0, 10), "two": Category((0, 1))})
PEOPLE = np.random.default_rng(0).uniform([0, -1, 0], [4, 1, 10], (50, 3))


def polynomial(coefficients: np.ndarray, w: np.ndarray) -> float:
    first, second = np.triu_indices(3)
    return float(coefficients[:3] @ w + coefficients[3:] @ (w[first] * w[second]))


def test_they_are_those_of_the_sum_of_squared_errors() -> None:
    u = np.column_stack([np.ones(50), PEOPLE[:, 0] / 2 - 1, PEOPLE[:, 1]]) / np.sqrt(3)
    w = np.array([0.7, -1.2, 2.0])
    numbers = summed(squared_loss_of(SCHEMA, ("a", "b"), "t"), PEOPLE)
    y = PEOPLE[:, 2] / 5 - 1
    np.testing.assert_allclose(polynomial(numbers, w), np.sum((u @ w - y) ** 2 - y**2), atol=1e-4)
    classes = (PEOPLE[:, 2] > 5).astype(float)
    marks = summed(squared_loss_of(SCHEMA, ("a", "b"), "two"), np.column_stack([PEOPLE[:, :2], classes]))
    signs = 2 * classes - 1
    np.testing.assert_allclose(polynomial(marks, w), np.sum((u @ w - signs) ** 2 - signs**2), atol=1e-4)


def test_corners_of_the_box_reach_the_bound_and_nothing_is_beyond() -> None:
    question = squared_loss_of(SCHEMA, ("a", "b"), "t")
    corners = np.array([[4.0, 1.0, 10.0], [0.0, -1.0, 0.0], [1e308, -1e308, 1e308], [np.nan, 0.0, 0.0]])
    lengths = np.abs(question.of(corners)).sum(axis=1)
    np.testing.assert_allclose(lengths, np.append(np.full(3, question.bound.radius), 0.0), rtol=1e-8)
    three = squared_loss_of(Schema({"a": Number(0, 4), "kind": Category(("f", "g", "h"))}), ("a",), "kind")
    np.testing.assert_allclose(np.abs(three.of(np.array([[4.0, 1.0]]))).sum(), three.bound.radius, rtol=1e-8)
