"""Second moments: counts, sums and products of all columns."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.second_moments import central_moments_of, second_moments_of, unfolded
from tests.questions.trial import SCHEMA, Trial, X, summed

TRIALS = {
    "second_moments": Trial({"columns": ("x", "y"), "radius": 1.0}, "86b80b4b7fad"),
    "central_moments": Trial(
        {"columns": ("x", "y"), "center": np.array([0.25, -0.5]), "radius": 1.0},
        "ef7bdb6d2dab",
        forged=[{"center": np.array([0.25, -1.5])}, {"center": np.array([[0.25, -0.5]])}],
    ),
}


def test_the_unfolded_sum_is_the_matrix_of_products() -> None:
    records = np.column_stack([X, np.random.default_rng(3).uniform(0, 1, len(X))])
    z = (records - [50.0, 0.5]) / [60.0, 0.5]
    u = np.column_stack([np.ones(len(z)), z])
    released = summed(second_moments_of(SCHEMA, ("x", "y"), 2.0), np.vstack([records, [[np.nan, 0.5]]]))
    found = unfolded(released, Coordinates.of(SCHEMA, ("x", "y"), 2.0))
    np.testing.assert_allclose(found, u.T @ u, atol=0.05)


def test_central_moments_are_those_around_their_center() -> None:
    records = np.column_stack([X, np.random.default_rng(3).uniform(0, 1, len(X))])
    center = np.array([0.25, -0.5])
    u = np.column_stack([np.ones(len(X)), (records - [50.0, 0.5]) / [60.0, 0.5] - center])
    found = summed(central_moments_of(SCHEMA, ("x", "y"), center, 9.0), records)
    np.testing.assert_allclose(unfolded(found, Coordinates.of(SCHEMA, ("x", "y"), 9.0, center)), u.T @ u, atol=0.2)
