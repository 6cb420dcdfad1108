"""Moments of classes: exact without noise, those of all classes where noise hides the differences."""

from __future__ import annotations

import numpy as np

from discreet.learners.bayes.box_law import flattest
from discreet.learners.bayes.shrunk_moments import NoisyMoments

N = np.array([[400.0], [1600.0]])
MEAN = np.array([[-0.5, 0.1, -0.9, 0.2], [0.3, 0.2, -0.4, 0.2]])
VARIANCE = np.array([[0.05, 0.1, 0.19, 0.02], [0.1, 0.1, 0.84, 0.3]])  # the third are marks


def moments(stddev: float, seed: int = 0) -> NoisyMoments:
    noise = np.random.default_rng(seed).normal(0, stddev, (2, *MEAN.shape)) / N
    return NoisyMoments(N, MEAN + noise[0], MEAN**2 + VARIANCE + noise[1] / 0.6, stddev, stddev / 0.6)


def test_without_noise_they_are_the_exact_ones() -> None:
    found = moments(0.0).shrunk()
    np.testing.assert_allclose(found.mean, MEAN, atol=1e-6)
    np.testing.assert_allclose(found.variance, VARIANCE, atol=1e-6)


def test_noise_brings_classes_closer_and_the_closer_the_rarer_a_mark_is() -> None:
    rare = np.array([[-0.98, -0.2], [-0.99, 0.2]])
    kept = []
    for seed in range(200):
        noise = np.random.default_rng(seed).normal(0, 40.0, (2, 2, 2)) / N
        noisy = NoisyMoments(N, rare + noise[0], 1.0 + noise[1], 40.0, 40.0)
        kept.append(np.abs(np.diff(noisy.shrunk().mean, axis=0)[0]) / np.abs(np.diff(noisy.first, axis=0)[0]))
    rarer, usual = np.median(kept, axis=0)
    assert rarer < usual / 2


def test_noise_alone_makes_no_hump_at_both_ends() -> None:
    """The first, second and fourth feature have none for all classes together; a mark keeps its own."""
    for seed in range(20):
        found = moments(200.0, seed).shrunk()
        assert np.all(np.isfinite(found.mean))
        assert np.all(found.variance > 0)
        assert np.all(found.variance <= 1 - found.mean**2)
    calm = moments(10.0).shrunk()
    assert np.all(calm.variance[:, :2] <= flattest(calm.mean)[:, :2] + 1e-9)
    assert np.all(calm.variance[:, 2] > flattest(calm.mean)[:, 2])
