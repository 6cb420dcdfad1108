"""The sum of products, as a matrix of whole steps."""

from __future__ import annotations

import numpy as np

from discreet.core.bits import Bits
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.gram import Gram
from discreet.schema.schema import Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix

SCHEMA = Schema.numeric(-2.0, 2.0, 3)
BITS: Bits = DeterministicBits(0)


def test_it_is_the_sum_of_products_and_no_row_is_longer_than_it_says() -> None:
    X = np.random.default_rng(0).uniform(-2, 2, (200, 3))
    center = np.array([0.25, 0.0, -0.5])
    question = Gram.of(SCHEMA, SCHEMA.features, center, 0.75)
    coordinates = Coordinates.of(SCHEMA, SCHEMA.features, 0.75, center)

    def answered(rows: np.ndarray) -> np.ndarray:
        view = CuratorsView(Matrix(rows, SCHEMA), Neighbors.REPLACE, BITS)
        answer = question.answer(view)
        assert answer.longest == coordinates.longest
        return answer.steps

    steps = coordinates.steps(X, np.empty((4, 200)))[1:]
    np.testing.assert_array_equal(answered(X), steps @ steps.T)
    assert max(np.trace(answered(X[i : i + 1])) for i in range(50)) <= coordinates.longest
    assert np.trace(answered(np.full((1, 3), 2.0))) > 0.999 * coordinates.longest
    np.testing.assert_array_equal(answered(np.full((1, 3), np.nan)), np.zeros((3, 3)))
