"""Directed products: z (z'V), added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.questions.vectors.directed_products import directed_products_of
from tests.questions.trial import SCHEMA, Trial, X, summed

START: dict[str, Any] = {
    "columns": ("x", "y"),
    "center": np.array([0.25, -0.5]),
    "radius": 1.0,
    "directions": np.array([[0.75], [-0.5]]),
}
TRIALS = {
    "directed_products": Trial(
        START, "57c4de61fcc8", forged=[{"directions": np.full((2, 1), 2.0)}, {"directions": np.full((2, 1), 1 / 3)}]
    )
}


def test_the_sum_is_the_matrix_of_products_times_the_directions() -> None:
    records = np.column_stack([X, np.random.default_rng(3).uniform(0, 1, len(X))])
    z = (records - [50.0, 0.5]) / [60.0, 0.5] - START["center"]
    found = summed(directed_products_of(SCHEMA, **{**START, "radius": 9.0}), records)
    np.testing.assert_allclose(found.reshape(2, 1), z.T @ z @ START["directions"], atol=0.1)
