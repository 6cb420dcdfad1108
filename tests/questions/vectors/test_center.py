"""The center: the count and the sum of all records."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.center import center_of, count_weight
from tests.questions.trial import FEATURES, SCHEMA, Trial, summed

TRIALS = {
    "center": Trial({"columns": SCHEMA.features}, "d1f2a7b9cbc8", forged=[{"columns": ()}, {"columns": ("x", "x")}])
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
