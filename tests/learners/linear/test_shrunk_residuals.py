"""Odds of classes from shrunk residuals: where these average zero, inverted, and how the loss bends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.learners.linear.shrunk_residuals import ShrunkResiduals, softmax
from discreet.questions.gradients.gradients import contrasts

LENGTHS = (0.75, 1.0, math.sqrt(2))


def test_shrunk_residuals_average_zero_at_the_odds() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(4), 200)
    for longest in LENGTHS:
        r = p[:, None, :] - np.eye(4)
        r = r * np.minimum(1.0, longest / np.linalg.norm(r, axis=2, keepdims=True))
        mean = np.einsum("ik,ikj->ij", ShrunkResiduals(longest).odds(p), r)
        np.testing.assert_allclose(mean, 0.0, atol=1e-12)


def test_the_start_has_the_shares_of_the_classes() -> None:
    for shares in (np.array([0.93, 0.07]), np.array([0.5, 0.5]), np.array([0.7, 0.2, 0.0999, 0.0001])):
        for longest in LENGTHS:
            pull = ShrunkResiduals(longest)
            p = softmax((pull.start(shares) @ contrasts(len(shares)))[None, :])
            np.testing.assert_allclose(pull.odds(p)[0], shares, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("longest", LENGTHS)
def test_the_loss_bends_as_its_residuals_change(longest: float) -> None:
    """Differences of the mean shrunk residual, at fixed odds, beside the formula."""
    pull, basis, h = ShrunkResiduals(longest), contrasts(3), 1e-5

    def mean_residual(scores: np.ndarray, odds: np.ndarray) -> np.ndarray:
        r = softmax(scores[None, :] @ basis)[0] - np.eye(3)
        return np.asarray(odds @ (r * np.minimum(1.0, longest / np.linalg.norm(r, axis=1, keepdims=True))) @ basis.T)

    for scores in np.random.default_rng(1).normal(size=(20, 2)) * 2:
        odds = pull.odds(softmax(scores[None, :] @ basis))[0]
        slopes = [
            (mean_residual(scores + h * e, odds) - mean_residual(scores - h * e, odds)) / (2 * h) for e in np.eye(2)
        ]
        if longest >= math.sqrt(2 / 3):
            assert pull.bends(scores[None, :])[0] == pytest.approx(np.trace(slopes) / 2, abs=1e-4)
        for way in np.eye(2):
            found = pull.along(scores[None, :], way[None, :])[0]
            assert found == pytest.approx(way @ np.array(slopes) @ way, abs=1e-4)
