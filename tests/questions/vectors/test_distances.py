"""Distances: how many records lie how far from their center."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.distances import distances_of, radius_of
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

CENTERS = np.array([[0.5] * FEATURES, [-0.25] * FEATURES])
TRIALS = {
    "distances": Trial(
        {"columns": SCHEMA.features, "centers": CENTERS, "farthest": 3.0, "bins": 8},
        "cfb56f4a5841",
        forged=[{"centers": CENTERS / 3}, {"farthest": 0.0}, {"bins": 0}],
    )
}


def test_each_record_is_counted_once_at_its_distance() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    away = np.sqrt(np.square(scaled[:, None] - CENTERS).sum(axis=2).min(axis=1))
    found = summed(distances_of(SCHEMA, SCHEMA.features, CENTERS, 1.0, 4), np.vstack([records, [[np.nan] * FEATURES]]))
    np.testing.assert_array_equal(found, np.histogram(np.minimum(away, 0.999), 4, (0, 1))[0])
    assert radius_of(found, 1.0, 1.0) == 1.0
    assert radius_of(np.zeros(4), 1.0, 0.9) == 1.0
