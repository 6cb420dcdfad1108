"""Sparse subspaces, half vectors and the distance of subspaces."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.local.subspaces.product_moments import projected, sparse_components, squared_sine, top_components
from discreet.local.subspaces.product_report import product_vectors, symmetric


def noisy(p: int, s: int, stddev: float, rng: np.random.Generator) -> Array:
    """Two components on the first s coordinates, and noise."""
    basis = np.linalg.qr(rng.normal(size=(s, 2)))[0]
    noise = rng.normal(0, stddev, (p, p))
    matrix = (noise + noise.T) / 2
    matrix[:s, :s] += basis @ np.diag([0.5, 0.35]) @ basis.T
    return np.asarray(matrix)


def test_the_projection_is_the_closest_matrix_of_the_fantope() -> None:
    rng = np.random.default_rng(0)
    for k in (1, 3, 6):
        matrix = rng.normal(size=(6, 6))
        matrix = (matrix + matrix.T) / 2
        found = projected(matrix, k)
        values = np.linalg.eigvalsh(found)
        assert values.min() > -1e-9
        assert values.max() < 1 + 1e-9
        assert values.sum() == pytest.approx(k)
        for _ in range(50):
            other = np.linalg.qr(rng.normal(size=(6, k)))[0]
            toward = other @ other.T - found
            assert np.sum(toward * (found - matrix)) >= -1e-9


def test_few_coordinates_are_found_and_noise_elsewhere_is_left_out() -> None:
    """The deviation is that of a million people with p = 100 in the notes on local components."""
    rng = np.random.default_rng(1)
    dense, sparse = [], []
    for _ in range(3):
        matrix = noisy(100, 10, 0.006, rng)
        truth = top_components(noisy_free(matrix, 10), 2)
        dense.append(squared_sine(top_components(matrix, 2), truth))
        sparse.append(squared_sine(sparse_components(matrix, 2, 0.5 * 0.0042 * np.sqrt(2 * np.log(100))), truth))
    assert np.mean(sparse) < np.mean(dense) / 5


def noisy_free(matrix: Array, s: int) -> Array:
    """The components as they are without the noise outside their coordinates."""
    kept = np.zeros_like(matrix)
    kept[:s, :s] = matrix[:s, :s]
    return kept


def test_no_signal_still_gives_components() -> None:
    for matrix in (np.zeros((4, 4)), np.eye(4) * 1e-9):
        found = sparse_components(matrix, 2, 1.0)
        assert np.allclose(found @ found.T, np.eye(2))


def test_half_vectors_keep_lengths_and_distances() -> None:
    rows = np.random.default_rng(2).normal(size=(5, 7))
    vectors = product_vectors(rows)
    for first in range(5):
        assert np.allclose(symmetric(vectors[first], 7), np.outer(rows[first], rows[first]))
        for second in range(5):
            exact = np.linalg.norm(np.outer(rows[first], rows[first]) - np.outer(rows[second], rows[second]))
            assert np.linalg.norm(vectors[first] - vectors[second]) == pytest.approx(exact, abs=1e-12)


def test_the_squared_sine_is_half_the_squared_distance_of_projections() -> None:
    rng = np.random.default_rng(3)
    first, second = (np.linalg.qr(rng.normal(size=(6, 2)))[0].T for _ in range(2))
    exact = np.square(first.T @ first - second.T @ second).sum() / 2
    assert squared_sine(first, second) == pytest.approx(exact)
    assert squared_sine(first, first[::-1]) == pytest.approx(0.0, abs=1e-12)
    for wrong in (2 * first, first[:1], np.eye(7)[:2]):
        with pytest.raises(ParameterError):
            squared_sine(wrong, second)
