"""Parts of a mixture: densities, shares, and how they move."""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal

from discreet.learners.clusters.mixture import Mixture, definite, shrunk, square_of
from discreet.questions.vectors.mixture_moments import mixture_moments_of
from discreet.schema.schema import Schema

PARTS = Mixture(
    np.array([0.25, 0.75]),
    np.array([[0.5, 0.25], [-0.25, -0.5]]),
    np.array([[[0.02, 0.01], [0.01, 0.03]], [[0.01, 0.0], [0.0, 0.04]]]),
)


def test_densities_are_those_of_the_parts() -> None:
    records = np.random.default_rng(4).uniform(-1, 1, (20, 2))
    logs = PARTS.log_densities(records)
    for part in range(2):
        law = multivariate_normal(PARTS.means[part], PARTS.covariances[part])
        np.testing.assert_allclose(logs[:, part], np.log(PARTS.weights[part]) + law.logpdf(records))
    np.testing.assert_allclose(PARTS.shares(records).sum(axis=1), 1.0)


def test_without_noise_a_step_is_that_of_expectation_maximisation() -> None:
    """From means that are off; beyond the radius, where 3% of the records lie, residuals are shrunk."""
    rng = np.random.default_rng(1)
    part = (rng.random(40_000) < PARTS.weights[1]).astype(int)
    factors = np.linalg.cholesky(PARTS.covariances)
    X = PARTS.means[part] + np.einsum("nij,nj->ni", factors[part], rng.normal(size=(40_000, 2)))
    start = Mixture(PARTS.weights, PARTS.means + 1 / 8, 3 * PARTS.covariances)
    question = mixture_moments_of(
        Schema.numeric(-2.0, 2.0, 2), ("x0", "x1"), start.weights, start.means, start.factors, start.radii
    )
    assert question.total is not None
    released = question.grid.values(question.total(2 * X))
    moved = start.moved(released, 0.0, "full")
    shares = start.shares(X)
    counts = shares.sum(axis=0)
    np.testing.assert_allclose(moved.weights, counts / len(X), atol=1e-3)
    means = shares.T @ X / counts[:, None]
    np.testing.assert_allclose(moved.means, means, atol=2e-3)
    for k in range(2):
        exact = (shares[:, [k]] * (X - means[k])).T @ (X - means[k]) / counts[k]
        np.testing.assert_allclose(moved.covariances[k], exact, rtol=0.1, atol=5e-4)


def test_matrices_that_are_lost_in_noise_are_drawn_to_their_average() -> None:
    found = PARTS.covariances
    clear, lost = (shrunk(found, np.full(2, noise), np.full(2, 100.0), "full") for noise in (0.0, 1.0))
    np.testing.assert_allclose(clear, found, atol=1e-12)
    np.testing.assert_allclose(lost, np.stack([np.eye(2) * 0.025] * 2))
    tied = shrunk(found, np.zeros(2), np.full(2, 100.0), "tied")
    np.testing.assert_allclose(tied, np.stack([found.mean(axis=0)] * 2))
    diagonal = shrunk(found, np.zeros(2), np.full(2, 100.0), "diag")[0]
    np.testing.assert_allclose(diagonal, np.diag([0.02, 0.03]))


def test_a_matrix_is_made_definite_and_is_read_from_a_list() -> None:
    assert np.linalg.eigvalsh(definite(np.diag([-1.0, 9.0]), 0.1)).tolist() == [0.1, 4.0]
    assert square_of(np.array([1.0, 11 / 8, 3.0]), 2).tolist() == [[1.0, 1.0], [1.0, 3.0]]
