"""Projected cells: each record is counted once, where its coordinates are."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.questions.vectors.projected_cells import cell_middles, projected_cells_of
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

START: dict[str, Any] = {
    "columns": SCHEMA.features,
    "center": np.full(FEATURES, 0.25),
    "directions": np.array([[1.0, 0.0], [0.0, 0.5], [0.0, -0.75]]),
    "reach": np.array([1.0, 0.8]),
    "cells": 4,
}
TRIALS = {
    "projected_cells": Trial(
        START,
        "a7287446ae46",
        forged=[{"reach": np.array([0.0, 1.0])}, {"directions": np.full((3, 2), 1 / 3)}, {"cells": 2**10}],
    )
}


def test_each_record_is_counted_in_its_cell() -> None:
    scaled = np.random.default_rng(4).uniform(-1, 1, (300, FEATURES))
    records = np.array([50.0, 0.5, 0.0]) + np.array([60.0, 0.5, 1e48]) * scaled
    along = (scaled - START["center"]) @ START["directions"]
    ends = [np.linspace(-reach, reach, 5) for reach in START["reach"]]
    inside = np.clip(along, -START["reach"] * 0.999, START["reach"] * 0.999)
    found = summed(projected_cells_of(SCHEMA, **START), np.vstack([records, [[np.nan] * FEATURES]]))
    np.testing.assert_array_equal(found.reshape(4, 4), np.histogramdd(inside, bins=ends)[0])
    np.testing.assert_allclose(cell_middles(START["reach"], 4)[0], [-0.75, -0.6])
