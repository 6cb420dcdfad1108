"""Clusters: counts and sums around the nearest center."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.clusters import cluster_residuals_of, clusters_of
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

CENTERS = np.array([[0.5] * FEATURES, [-0.25] * FEATURES])
TRIALS = {
    "clusters": Trial(
        {"columns": SCHEMA.features, "centers": np.array([[0.5] * FEATURES, [-0.25] * FEATURES]), "norm": "l2"},
        "8846f8d098fd",
        forged=[{"centers": np.full((2, FEATURES), 1 / 3)}],
    ),
    "cluster_residuals": Trial(
        {"columns": SCHEMA.features, "centers": CENTERS, "radius": 0.5, "norm": "l2"},
        "4494e1747a0b",
        forged=[{"centers": CENTERS / 3}, {"radius": 0.0}, {"norm": "linf"}],
    ),
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


def test_the_sums_are_those_of_differences_to_the_nearest_center() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    near = np.square(scaled[:, None] - CENTERS).sum(axis=2).argmin(axis=1)
    for norm in ("l1", "l2"):
        question = cluster_residuals_of(SCHEMA, SCHEMA.features, CENTERS, 0.5, norm)
        found = summed(question, np.vstack([records, [[np.nan] * FEATURES]])).reshape(2, 1 + FEATURES)
        for place in range(2):
            away = scaled[near == place] - CENTERS[place]
            unit = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 0.5)
            np.testing.assert_allclose(found[place, 0], 0.7 * len(away), rtol=1e-6)
            np.testing.assert_allclose(found[place, 1:], unit.sum(axis=0), atol=1e-3)
