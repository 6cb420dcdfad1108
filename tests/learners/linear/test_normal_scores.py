"""Second derivatives of a loss over normal scores, beside sums over many draws."""

from __future__ import annotations

import numpy as np

from discreet.learners.linear.normal_scores import NormalScores, lengthened
from discreet.learners.linear.shrunk_residuals import ShrunkResiduals


def test_one_score_has_the_means_of_many_draws() -> None:
    pull, rng = ShrunkResiduals(2**0.5), np.random.default_rng(3)
    found = NormalScores.of(pull.bends, np.array([-1.8]), np.array([1.5]), 0.0)
    t = rng.normal(size=400_000)
    f = pull.bends((-1.8 + np.sqrt(1.5) * t)[:, None])
    expected = np.array([[np.mean(f), np.mean(f * t)], [np.mean(f * t), np.mean(f * t * t)]]) / np.mean(f)
    assert abs(found.mean - f.mean()) < 5e-3 * f.mean()
    np.testing.assert_allclose(found.plane, expected, atol=0.02)


def test_a_straightened_gradient_is_the_newton_step_in_the_plane_and_the_gradient_elsewhere() -> None:
    found = NormalScores(1.0, np.array([[1.0, 0.5], [0.5, 2.0]]))
    gradient, constant, score = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 0.0, 0.0]), np.array([1.0, 3.0, 0.0])
    expected = [*np.linalg.solve(found.plane, [1.0, 2.0]), 3.0]
    np.testing.assert_allclose(found.straightened(gradient, constant, score)[:, 0], expected)
    np.testing.assert_array_equal(found.straightened(gradient, constant, 0 * score), gradient)


def test_a_gradient_of_several_scores_is_longer_along_them_alone() -> None:
    gradient, coefficients = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(lengthened(gradient, coefficients, 1.0, 0.5), [[2.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(lengthened(gradient, coefficients, 1.0, 0.0), [[5.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(lengthened(gradient, 0 * coefficients, 1.0, 0.5), gradient)
