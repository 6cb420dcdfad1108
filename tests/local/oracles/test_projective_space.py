"""Projective spaces: numbers and vectors, hyperplanes and their sums."""

from __future__ import annotations

import numpy as np

from discreet.local.oracles.projective_space import ProjectiveSpace
from tests.conformance.walk import for_each


@for_each([ProjectiveSpace(2, 4), ProjectiveSpace(3, 3), ProjectiveSpace(7, 2), ProjectiveSpace(5, 4)])
def test_points_have_numbers_and_hyperplanes_sums(space: ProjectiveSpace) -> None:
    numbers = np.arange(space.points)
    vectors = space.vector(numbers)
    for times in range(1, space.q):
        assert np.array_equal(space.number(vectors * times % space.q), numbers)
    orthogonal = vectors.T @ vectors % space.q == 0
    assert (orthogonal.sum(axis=0) == space.hyperplane).all()
    weights = np.random.default_rng(1).random(space.points)
    assert np.allclose(space.hyperplane_sums(weights), orthogonal @ weights)
    assert (orthogonal[0] & orthogonal[1]).sum() == space.meet


def test_vectors_have_the_product_that_is_asked_for_and_each_as_often() -> None:
    space = ProjectiveSpace(3, 3)
    for point in range(space.points):
        points = np.repeat(space.vector(np.array([point])), 9, axis=1)
        for product in range(3):
            made = space.with_product(points, np.arange(9), np.full(9, product))
            assert (space.product(points, made) == product).all()
            assert len(np.unique(made, axis=1).T) == 9
