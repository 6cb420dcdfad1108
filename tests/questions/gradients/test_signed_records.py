"""Records as signed vectors: what they are made of, and what counts for nothing."""

from __future__ import annotations

import numpy as np

from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.gradients.signed_records import SignedRecords, Waves, scaled
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix

SCHEMA = Schema({"age": Number(0, 100), "height": Number(1, 3), "team": Category(("a", "b", "c"))})
PEOPLE = np.array([[50.0, 3.0, 0.0], [100.0, 2.0, 1.0], [np.nan, 2.0, 1.0], [25.0, 2.0, np.nan]])


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
