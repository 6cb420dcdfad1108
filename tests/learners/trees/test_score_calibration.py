"""Calibration: right without noise, and close to the shares of classes where noise is all."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from discreet.learners.trees.score_calibration import CELLS, Calibration
from discreet.questions.trees.forest_scores import score_ends, score_middles

SCORES = score_middles(CELLS, 0.1)


def counted(slope: float, offset: float, n: int = 100_000) -> np.ndarray:
    """Cells of normal scores, by classes of these odds: of shape (1, cells, 2)."""
    rng = np.random.default_rng(0)
    score = rng.normal(0, 0.05, n)
    y, cell = rng.random(n) < expit(offset + slope * score), np.searchsorted(score_ends(CELLS, 0.1)[1:-1], score)
    return np.bincount(2 * cell + y, minlength=2 * CELLS).reshape(1, CELLS, 2).astype(np.float64)


def test_odds_are_found() -> None:
    """To within the steps of slopes and offsets, and of what a cell says about the scores in it."""
    for slope, offset in ((20.0, -1.0), (5.0, 0.5), (60.0, 0.0)):
        counts = counted(slope, offset)
        shares = counts.sum(axis=(0, 1)) / counts.sum()
        found = Calibration.of(shares, 4.0, counts, SCORES, 0.0)
        np.testing.assert_allclose(found.slopes, slope, rtol=0.25)
        np.testing.assert_allclose(found.offsets, offset, atol=0.15)


def test_scores_that_say_nothing_leave_the_shares_of_the_classes() -> None:
    counts = counted(0.0, logit(0.1))
    found = Calibration.of(np.array([0.9, 0.1]), 4.0, counts, SCORES, 0.0).probabilities(
        np.array([[-0.1], [0.0], [0.1]])
    )
    np.testing.assert_allclose(found[:, 1], 0.1, atol=0.02)


def test_noise_alone_is_not_heard() -> None:
    """Counts of nobody, of deviation 100: all of 20 fits stay within two octaves of the usual slope."""
    rng, shares = np.random.default_rng(1), np.array([0.7, 0.3])
    for _ in range(20):
        found = Calibration.of(shares, 4.0, rng.normal(0, 100, (1, CELLS, 2)), SCORES, 100.0)
        assert 1.0 <= found.slopes * 0.21 <= 16.0
        np.testing.assert_allclose(found.offsets, logit(0.3), atol=0.5)


def test_probabilities_of_several_classes_add_up_and_none_is_certain() -> None:
    found = Calibration.usual(np.array([0.5, 0.3, 0.2]), 4.0).probabilities(
        np.array([[9.0, -9.0, 0.0], [0.0, 0.0, 0.0]])
    )
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() > 1e-4
    np.testing.assert_allclose(found[1], [0.5, 0.3, 0.2])
