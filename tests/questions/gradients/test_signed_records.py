"""Records as signed vectors: what they are made of, and what counts for nothing."""

from __future__ import annotations

import numpy as np

from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.gradients.signed_records import SignedRecords, Waves, scaled, squared_loss_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix
from tests.questions.trial import Trial, summed

SCHEMA = Schema({"age": Number(0, 100), "height": Number(1, 3), "team": Category(("a", "b", "c"))})
PEOPLE = np.array([[50.0, 3.0, 0.0], [100.0, 2.0, 1.0], [np.nan, 2.0, 1.0], [25.0, 2.0, np.nan]])
LOSS_SCHEMA = Schema({"a": Number(0, 4), "b": Number(-1, 1), "t": Number(0, 10), "two": Category((0, 1))})
MEASURED = np.random.default_rng(0).uniform([0, -1, 0], [4, 1, 10], (50, 3))
TRIALS = {
    "squared_loss": Trial(
        {"columns": ("x", "y"), "target": "kind"}, "e12cfafa3be5", forged=[{"target": "only"}, {"columns": ()}]
    )
}


def test_records_of_one_class_are_positive_and_all_others_negative() -> None:
    question = SignedRecords(SCHEMA, ("age", "height"), "team", 1)
    view = CuratorsView(Matrix(PEOPLE, SCHEMA), Neighbors.REPLACE, DeterministicBits(0))
    answer = question.answer(view)
    np.testing.assert_allclose(answer.values[:2], [[-1.0, 0.0, -1.0], [1.0, 1.0, 0.0]])
    assert np.isnan(answer.values[2:]).all()
    assert (answer.rows, answer.neighbors) == (1, Neighbors.REPLACE)
    assert question.columns == ("age", "height", "team")


def test_values_outside_their_bounds_are_moved_to_them() -> None:
    question = SignedRecords(SCHEMA, ("age",), "team", 1)
    np.testing.assert_array_equal(question.vectors(np.array([[-1e308], [1e308]])), [[1, -1], [1, 1]])
    wide = np.array([1.7e308])
    np.testing.assert_allclose(scaled(np.array([[0.0]]), -wide, wide), [[0.0]])


def test_fourier_features_have_length_one_and_products_near_the_kernel() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (30, 3))
    found = Waves(rng.normal(0.0, np.sqrt(2 * 0.7), (20_000, 3))).of(x)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    kernel = np.exp(-0.7 * np.square(x[:, None] - x).sum(axis=2))
    np.testing.assert_allclose(found @ found.T, kernel, atol=0.04)


def polynomial(coefficients: np.ndarray, w: np.ndarray) -> float:
    first, second = np.triu_indices(3)
    return float(coefficients[:3] @ w + coefficients[3:] @ (w[first] * w[second]))


def test_they_are_those_of_the_sum_of_squared_errors() -> None:
    u = np.column_stack([np.ones(50), MEASURED[:, 0] / 2 - 1, MEASURED[:, 1]]) / np.sqrt(3)
    w = np.array([0.7, -1.2, 2.0])
    numbers = summed(squared_loss_of(LOSS_SCHEMA, ("a", "b"), "t"), MEASURED)
    y = MEASURED[:, 2] / 5 - 1
    np.testing.assert_allclose(polynomial(numbers, w), np.sum((u @ w - y) ** 2 - y**2), atol=1e-4)
    classes = (MEASURED[:, 2] > 5).astype(float)
    marks = summed(squared_loss_of(LOSS_SCHEMA, ("a", "b"), "two"), np.column_stack([MEASURED[:, :2], classes]))
    signs = 2 * classes - 1
    np.testing.assert_allclose(polynomial(marks, w), np.sum((u @ w - signs) ** 2 - signs**2), atol=1e-4)


def test_corners_of_the_box_reach_the_bound_and_nothing_is_beyond() -> None:
    question = squared_loss_of(LOSS_SCHEMA, ("a", "b"), "t")
    corners = np.array([[4.0, 1.0, 10.0], [0.0, -1.0, 0.0], [1e308, -1e308, 1e308], [np.nan, 0.0, 0.0]])
    lengths = np.abs(question.of(corners)).sum(axis=1)
    np.testing.assert_allclose(lengths, np.append(np.full(3, question.bound.radius), 0.0), rtol=1e-8)
    three = squared_loss_of(Schema({"a": Number(0, 4), "kind": Category(("f", "g", "h"))}), ("a",), "kind")
    np.testing.assert_allclose(np.abs(three.of(np.array([[4.0, 1.0]]))).sum(), three.bound.radius, rtol=1e-8)
