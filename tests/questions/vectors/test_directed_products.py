"""Directed products: z (z'V), added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.bits import Bits
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.directed_products import (
    CoordinateRecords,
    Gram,
    complete_count_of,
    directed_products_of,
    directed_squares_of,
)
from discreet.schema.schema import Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source_of import source_of
from tests.questions.trial import FEATURES, SCHEMA, Trial, X, summed

START: dict[str, Any] = {
    "columns": ("x", "y"),
    "center": np.array([0.25, -0.5]),
    "radius": 1.0,
    "directions": np.array([[0.75], [-0.5]]),
}
CENTER, DIRECTIONS = np.full(FEATURES, 0.25), np.eye(FEATURES)[:, :2]
PLAIN = Schema.numeric(-2.0, 2.0, 3)
BITS: Bits = DeterministicBits(0)
TRIALS = {
    "directed_products": Trial(
        START, "57c4de61fcc8", forged=[{"directions": np.full((2, 1), 2.0)}, {"directions": np.full((2, 1), 1 / 3)}]
    ),
    "directed_squares": Trial(
        {"columns": SCHEMA.features, "center": CENTER, "radius": 0.5, "directions": DIRECTIONS},
        "9893fb6ee96a",
        forged=[{"directions": np.full((FEATURES, 2), 1 / 3)}, {"radius": 0.0}, {"center": CENTER[:1]}],
    ),
    "complete_count": Trial({"columns": ("x", "y")}, "6751341ad495"),
}


def test_the_sum_is_the_matrix_of_products_times_the_directions() -> None:
    records = np.column_stack([X, np.random.default_rng(3).uniform(0, 1, len(X))])
    z = (records - [50.0, 0.5]) / [60.0, 0.5] - START["center"]
    found = summed(directed_products_of(SCHEMA, **{**START, "radius": 9.0}), records)
    np.testing.assert_allclose(found.reshape(2, 1), z.T @ z @ START["directions"], atol=0.1)


def test_they_add_up_to_the_squared_length() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    question = directed_squares_of(SCHEMA, SCHEMA.features, CENTER, 0.5, DIRECTIONS)
    found = summed(question, np.vstack([records, [[np.nan] * FEATURES]]))
    away = scaled - CENTER
    away *= np.minimum(1, 0.5 / np.linalg.norm(away, axis=1))[:, None]
    np.testing.assert_allclose(found, np.square(away).sum(axis=0), rtol=1e-3)
    assert question.steps(records).min() >= 0


def test_it_is_the_sum_of_products_and_no_row_is_longer_than_it_says() -> None:
    RECORDS = np.random.default_rng(0).uniform(-2, 2, (200, 3))
    center = np.array([0.25, 0.0, -0.5])
    question = Gram.of(PLAIN, PLAIN.features, center, 0.75)
    coordinates = Coordinates.of(PLAIN, PLAIN.features, 0.75, center)

    def answered(rows: np.ndarray) -> np.ndarray:
        view = CuratorsView(Matrix(rows, PLAIN), Neighbors.REPLACE, BITS)
        answer = question.answer(view)
        assert answer.longest == coordinates.longest
        return answer.steps

    steps = coordinates.steps(RECORDS, np.empty((4, 200)))[1:]
    np.testing.assert_array_equal(answered(RECORDS), steps @ steps.T)
    assert max(np.trace(answered(RECORDS[i : i + 1])) for i in range(50)) <= coordinates.longest
    assert np.trace(answered(np.full((1, 3), 2.0))) > 0.999 * coordinates.longest
    np.testing.assert_array_equal(answered(np.full((1, 3), np.nan)), np.zeros((3, 3)))


def test_a_record_counts_if_no_value_is_missing() -> None:
    records = np.column_stack([X, X / 200])
    records[:3, 0], records[2:5, 1] = np.nan, np.nan
    question = complete_count_of(SCHEMA, ("x", "y"))
    assert summed(question, records).tolist() == [len(X) - 5]


def test_vectors_are_no_longer_than_is_said_and_zero_where_a_value_is_missing() -> None:
    schema = Schema.numeric(0.0, 10.0, 3)
    rows = np.array([[0.0, 10.0, 10.0], [5.0, 5.0, 5.0], [5.0, 6.0, np.nan], [0.0, 0.0, 0.0]])
    view = CuratorsView(source_of(rows, schema), Neighbors.ADD_REMOVE, DeterministicBits(0))
    for radius in (0.5, 1.0, 9.0):
        question = CoordinateRecords(schema, ("x0", "x1", "x2"), radius)
        found = question.answer(view).values
        lengths = sorted(np.linalg.norm(found, axis=1))
        assert lengths[0] == 0.0
        assert question.longest * (1 - 1e-3) < lengths[-1] <= question.longest
        assert sorted(found[:, 0]) == [0.0, *[question.coordinates.weight] * 3]
