"""The center: the count and the sum of all records."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.questions.vectors.center import (
    cell_middles,
    center_of,
    count_weight,
    distances_of,
    projected_cells_of,
    radius_of,
)
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

CENTERS = np.array([[0.5] * FEATURES, [-0.25] * FEATURES])
START: dict[str, Any] = {
    "columns": SCHEMA.features,
    "center": np.full(FEATURES, 0.25),
    "directions": np.array([[1.0, 0.0], [0.0, 0.5], [0.0, -0.75]]),
    "reach": np.array([1.0, 0.8]),
    "cells": 4,
}
TRIALS = {
    "center": Trial({"columns": SCHEMA.features}, "d1f2a7b9cbc8", forged=[{"columns": ()}, {"columns": ("x", "x")}]),
    "distances": Trial(
        {"columns": SCHEMA.features, "centers": CENTERS, "farthest": 3.0, "bins": 8},
        "cfb56f4a5841",
        forged=[{"centers": CENTERS / 3}, {"farthest": 0.0}, {"bins": 0}],
    ),
    "projected_cells": Trial(
        START,
        "a7287446ae46",
        forged=[{"reach": np.array([0.0, 1.0])}, {"directions": np.full((3, 2), 1 / 3)}, {"cells": 2**10}],
    ),
}


def test_the_sums_are_those_of_all_whole_records() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    found = summed(center_of(SCHEMA, SCHEMA.features), np.vstack([records, [[np.nan, 0.5, 0.0]], [[0.0, np.inf, 0.0]]]))
    np.testing.assert_allclose(found[0] / count_weight(FEATURES), 300, rtol=1e-12)
    np.testing.assert_allclose(found[1:], scaled.sum(axis=0), atol=300 * 2.0**-15)


def test_a_corner_of_the_box_reaches_its_bound_and_no_record_is_longer() -> None:
    asked = center_of(SCHEMA, SCHEMA.features)
    corner = np.array([[110.0, 0.0, 1e48]])
    length = float(np.linalg.norm(asked.grid.values(asked.steps(corner))))
    assert 0.9999 * asked.bound.radius < length <= asked.bound.radius
    assert np.linalg.norm(asked.of(corner)) <= asked.bound.radius


def test_each_record_is_counted_once_at_its_distance() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    away = np.sqrt(np.square(scaled[:, None] - CENTERS).sum(axis=2).min(axis=1))
    found = summed(distances_of(SCHEMA, SCHEMA.features, CENTERS, 1.0, 4), np.vstack([records, [[np.nan] * FEATURES]]))
    np.testing.assert_array_equal(found, np.histogram(np.minimum(away, 0.999), 4, (0, 1))[0])
    assert radius_of(found, 1.0, 1.0) == 1.0
    assert radius_of(np.zeros(4), 1.0, 0.9) == 1.0


def test_each_record_is_counted_in_its_cell() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    along = (scaled - START["center"]) @ START["directions"]
    ends = [np.linspace(-reach, reach, 5) for reach in START["reach"]]
    inside = np.clip(along, -START["reach"] * 0.999, START["reach"] * 0.999)
    found = summed(projected_cells_of(SCHEMA, **START), np.vstack([records, [[np.nan] * FEATURES]]))
    np.testing.assert_array_equal(found.reshape(4, 4), np.histogramdd(inside, bins=ends)[0])
    np.testing.assert_allclose(cell_middles(START["reach"], 4)[0], [-0.75, -0.6])
