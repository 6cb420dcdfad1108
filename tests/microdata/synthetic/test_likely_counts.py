"""Counts given noisy ones: their means are those of integration, and nearer than what the noise leaves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.core.grid import Array
from discreet.microdata.synthetic.likely_counts import FILLED, SPREADS, likely_counts

NOISE = 7.0


def densities(theta: Array, expected: float) -> tuple[Array, Array]:
    """Of each law at positive counts, and the share that it has at zero."""
    found = []
    for spread in SPREADS:
        own = np.exp(-np.square(theta / expected - 1) / (2 * spread**2)) / (spread * expected * np.sqrt(2 * np.pi))
        found.append(own / ndtr(1 / spread))
    found += [share * np.exp(-theta * share / expected) * share / expected for share in FILLED]
    return np.array(found), np.array([0.0] * len(SPREADS) + [1 - share for share in FILLED])


def integrated(counts: Array, expected: Array) -> Array:
    """The same, by sums over a fine grid of what counts may be."""
    step = 0.01
    theta = np.arange(0.5, 40_000) * step
    means, evidence = [], np.zeros(len(SPREADS) + len(FILLED))
    for count, prior in zip(counts.tolist(), expected.tolist(), strict=True):
        own, empty = densities(theta, prior)
        noise = np.exp(-np.square((count - theta) / NOISE) / 2)
        positive, zero = (own * noise).sum(axis=1) * step, empty * np.exp(-((count / NOISE) ** 2) / 2)
        means.append((own * noise) @ theta * step / (positive + zero))
        evidence += np.log(positive + zero)
    weights = np.exp(evidence - evidence.max())
    return np.asarray(np.array(means) @ (weights / weights.sum()))


@pytest.mark.parametrize("expected", [2.0, 15.0, 60.0])
def test_means_are_those_of_integration(expected: float) -> None:
    rng = np.random.default_rng(1)
    for spread in (0.0, 0.3, 3.0):
        truth = expected * rng.gamma(1 / max(spread, 0.1) ** 2, max(spread, 0.1) ** 2, 5)
        counts, prior = truth + rng.normal(0, NOISE, 5), np.full(5, expected)
        np.testing.assert_allclose(likely_counts(counts, prior, NOISE), integrated(counts, prior), rtol=2e-3, atol=2e-3)


def test_they_are_nearer_than_counts_whatever_lies_under_the_noise() -> None:
    """What is even, what is spread, and what is mostly empty."""
    rng = np.random.default_rng(2)
    for least, truth in (
        (0.25, np.full(64, 20.0)),
        (0.8, rng.gamma(1.0, 20.0, 64)),
        (0.5, np.where(rng.random(64) < 0.1, 200.0, 0.0)),
    ):
        off = []
        for _ in range(40):
            counts = truth + rng.normal(0, 20.0, 64)
            found = likely_counts(counts, np.full(64, 20.0), 20.0)
            off.append([np.abs(own - truth).sum() for own in (found, np.maximum(counts, 0.0))])
        ours, cut = np.mean(off, axis=0)
        assert ours < least * cut


@pytest.mark.filterwarnings("error")
def test_noise_and_counts_of_any_size_are_answered() -> None:
    for stddev in (1e-9, 1e-3, 1.0, 1e6, 1e12):
        for count in (-1e9, -1e3, -1.0, 0.0, 1.0, 1e5, 1e9):
            for expected in (0.0, 1e-9, 1.0, 1e6):
                found = likely_counts(np.array([count, 1.0]), np.array([expected, 3.0]), stddev)
                assert np.isfinite(found).all()
                assert (found >= 0).all()


def test_without_noise_to_speak_of_counts_are_as_they_are() -> None:
    counts = np.array([5.0, 100.0, 2.0])
    np.testing.assert_allclose(likely_counts(counts, np.full(3, 30.0), 1e-4), counts, rtol=1e-6)


def test_where_next_to_nothing_is_expected_noise_makes_hardly_any_records() -> None:
    counts = np.random.default_rng(3).normal(0, 100.0, 64)
    assert likely_counts(counts, np.full(64, 0.05), 100.0).mean() < 0.2
