"""Clusters: counts and sums around the nearest center."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.clusters import clusters_of
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

TRIALS = {
    "clusters": Trial(
        {"columns": SCHEMA.features, "centers": np.array([[0.5] * FEATURES, [-0.25] * FEATURES]), "norm": "l2"},
        "8846f8d098fd",
        forged=[{"centers": np.full((2, FEATURES), 1 / 3)}],
    )
}


def test_the_sums_are_those_of_the_records_that_are_nearest_to_each_center() -> None:
    rng = np.random.default_rng(4)
    middle, half = np.array([50.0, 0.5, 0.0]), np.array([60.0, 0.5, 1e48])
    scaled = rng.uniform(-1, 1, (300, FEATURES))
    centers = np.array([[0.5, 0.5, 0.5], [-0.5, 0.25, 0.0]])
    nearest = np.square(scaled[:, None] - centers).sum(axis=2).argmin(axis=1)
    found = summed(clusters_of(SCHEMA, SCHEMA.features, centers, "l2"), middle + half * scaled).reshape(2, 1 + FEATURES)
    weight = (3 * FEATURES) ** -0.25
    for place in range(2):
        own = scaled[nearest == place]
        np.testing.assert_allclose(found[place, 0] / weight, len(own), rtol=1e-6)
        np.testing.assert_allclose(found[place, 1:] * np.sqrt(FEATURES), own.sum(axis=0), atol=1e-3)
