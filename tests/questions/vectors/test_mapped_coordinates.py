"""Mapped moments: products of linear combinations of columns."""

from __future__ import annotations

import numpy as np

from discreet.questions.vectors.mapped_coordinates import MappedCoordinates, on_maps
from discreet.questions.vectors.second_moments import mapped_moments_of, unfolded
from tests.questions.trial import SCHEMA, Trial, X, summed

MATRIX = np.array([[0.5, 0.25, 0.0], [-0.125, 0.5, 0.75]])
TRIALS = {
    "mapped_moments": Trial(
        {"columns": ("x", "y"), "matrix": MATRIX},
        "67c2b7702f37",
        forged=[{"matrix": MATRIX / 3}, {"matrix": MATRIX * 2.0**17}, {"matrix": MATRIX[:, :2]}],
    )
}


def test_the_unfolded_sum_is_the_matrix_of_products_of_shrunk_records() -> None:
    records = np.column_stack([X, np.random.default_rng(3).uniform(0, 1, len(X))])
    z = np.column_stack([np.ones(len(X)), (records - [50.0, 0.5]) / [60.0, 0.5]]) @ MATRIX.T
    u = np.column_stack([np.ones(len(z)), z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1.0)])
    released = summed(mapped_moments_of(SCHEMA, ("x", "y"), MATRIX), np.vstack([records, [[np.nan, 0.5]]]))
    found = unfolded(released, MappedCoordinates.of(SCHEMA, ("x", "y"), MATRIX))
    np.testing.assert_allclose(found, u.T @ u, atol=0.1)


def test_any_matrix_can_be_put_where_it_is_accepted() -> None:
    for matrix in (np.full((2, 3), 1 / 3), np.full((2, 3), 1e9), np.zeros((2, 3))):
        mapped_moments_of(SCHEMA, ("x", "y"), on_maps(matrix))
