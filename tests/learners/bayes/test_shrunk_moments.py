"""Moments of classes: exact without noise, those of all classes where noise hides the differences."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from discreet.learners.bayes.shrunk_moments import AWAY, LEAST, NARROW, VALUES, BoxLaw, NoisyMoments, flattest, law_of

N = np.array([[400.0], [1600.0]])
MEAN = np.array([[-0.5, 0.1, -0.9, 0.2], [0.3, 0.2, -0.4, 0.2]])
VARIANCE = np.array([[0.05, 0.1, 0.19, 0.02], [0.1, 0.1, 0.84, 0.3]])  # the third are marks


def test_a_law_has_its_mean_and_its_variance() -> None:
    """All that the mean allows, from the least to the most, at the ends too; normal laws nearly so, on few values."""
    rng = np.random.default_rng(0)
    mean = np.concatenate([rng.uniform(-0.99, 0.99, 300), [LEAST - 1, 0.0, 1 - LEAST, 0.97]])
    variance = np.maximum((1 - mean**2) * rng.uniform(0, 1, 304) ** 3, np.minimum(LEAST, 1 - mean**2))
    law = BoxLaw.of(mean, variance)
    shares = np.exp(law.log_density(VALUES[:, None]))
    own = np.sqrt(variance)
    normal = (own < NARROW) & (np.abs(mean) + AWAY * own < 1)
    np.testing.assert_allclose(shares.sum(axis=0)[~normal], 1.0)
    np.testing.assert_allclose(shares.sum(axis=0)[normal], 1.0, atol=1e-3)
    np.testing.assert_allclose((shares.T @ VALUES)[~normal], mean[~normal], atol=1e-5)
    np.testing.assert_allclose(law.slope[normal], (mean / variance)[normal])
    np.testing.assert_allclose(law.curve[normal], -1 / (2 * variance[normal]))
    np.testing.assert_allclose((shares.T @ VALUES**2)[~normal], (mean**2 + variance)[~normal], atol=3e-4)


def test_a_law_may_be_narrower_than_the_values_that_others_are_compared_on() -> None:
    z = np.array([0.098, 0.1, 0.1035])
    law = BoxLaw.of(np.array(0.1), np.array(1e-6))
    np.testing.assert_allclose(law.log_density(z), norm.logpdf(z, 0.1, 1e-3) + np.log(VALUES[1] - VALUES[0]))


def test_it_is_normal_where_the_ends_are_far_and_that_of_two_values_where_it_is_widest() -> None:
    z = np.array([-0.3, 0.0, 0.1, 0.4])
    far = BoxLaw.of(np.array(0.1), np.array(0.02))
    normal = norm.logpdf(z, 0.1, 0.02**0.5) + np.log(VALUES[1] - VALUES[0])
    np.testing.assert_allclose(far.log_density(z), normal, atol=1e-3)
    marks = BoxLaw.of(np.array(-0.8), np.array(0.36))
    np.testing.assert_allclose(np.exp(marks.log_density(np.array([-1.0, 1.0]))), [0.9, 0.1], atol=1e-3)
    assert marks.log_density(np.array(0.5)) < -10


def test_above_the_flattest_variance_both_ends_have_humps() -> None:
    mean = np.array([0.0, 0.3, 0.6])
    narrow, wide = (BoxLaw.of(mean, flattest(mean) * factor).curve for factor in (0.8, 1.25))
    assert np.all(narrow < 0)
    assert np.all(wide > 0)


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


def test_a_law_is_found_once_and_follows_what_was_released() -> None:
    mean, variance = np.array([[0.1, -0.4]]), np.array([[0.05, 0.3]])
    law = law_of(mean, variance)
    assert law_of(mean.copy(), variance.copy()) is law
    np.testing.assert_array_equal(law.slope, BoxLaw.of(mean, variance).slope)
    assert (law_of(mean + 0.1, variance).slope != law.slope).all()
    assert not any(part.flags.writeable for part in (law.slope, law.curve, law.log_total))
