"""Squares along directions, and across them."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.directed_squares import directed_squares_of
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

CENTER, DIRECTIONS = np.full(FEATURES, 0.25), np.eye(FEATURES)[:, :2]
TRIALS = {
    "directed_squares": Trial(
        {"columns": SCHEMA.features, "center": CENTER, "radius": 0.5, "directions": DIRECTIONS},
        "9893fb6ee96a",
        forged=[{"directions": np.full((FEATURES, 2), 1 / 3)}, {"radius": 0.0}, {"center": CENTER[:1]}],
    )
}


def test_they_add_up_to_the_squared_length() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    question = directed_squares_of(SCHEMA, SCHEMA.features, CENTER, 0.5, DIRECTIONS)
    found = summed(question, np.vstack([records, [[np.nan] * FEATURES]]))
    away = scaled - CENTER
    away *= np.minimum(1, 0.5 / np.linalg.norm(away, axis=1))[:, None]
    np.testing.assert_allclose(found, np.square(away).sum(axis=0), rtol=1e-3)
    assert question.steps(records).min() >= 0
