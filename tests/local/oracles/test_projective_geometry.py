"""Projective geometry response: the choice of the space, and its variance."""

from __future__ import annotations

import math

import numpy as np

from discreet.local.oracles.projective_geometry import ProjectiveGeometry, ProjectiveSpace
from tests.conformance.walk import for_each
from tests.local.trial import ReportTrial

TRIAL = ReportTrial(
    [ProjectiveGeometry(), ProjectiveGeometry(0.3, 2), ProjectiveGeometry(3.0, 200)],
    fingerprints={"pgr": "7d719d718424c4c0"},
)


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


def test_the_variance_is_close_to_that_of_unary_encoding_and_the_space_small() -> None:
    for epsilon in (0.2, 0.5, 1.0, 2.0, 4.0):
        for size in (30, 1000, 10_000, 100_000):
            oracle = ProjectiveGeometry(epsilon, size)
            assert oracle.noise < 1.1 * 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2
            assert oracle.codes >= size
            assert oracle.space.vectors < 2**24
