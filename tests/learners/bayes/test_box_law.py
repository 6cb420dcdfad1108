"""Laws between bounds: they have the moments that are asked for, and the forms that these determine."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from discreet.learners.bayes.box_law import LEAST, VALUES, BoxLaw, flattest


def test_a_law_has_its_mean_and_its_variance() -> None:
    """All that the mean allows, from the least to the most, at the ends too."""
    rng = np.random.default_rng(0)
    mean = np.concatenate([rng.uniform(-0.99, 0.99, 300), [LEAST - 1, 0.0, 1 - LEAST, 0.97]])
    variance = np.maximum((1 - mean**2) * rng.uniform(0, 1, 304) ** 3, np.minimum(LEAST, 1 - mean**2))
    law = BoxLaw.of(mean, variance)
    shares = np.exp(law.log_density(VALUES[:, None]))
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    np.testing.assert_allclose(shares.T @ VALUES, mean, atol=1e-5)
    np.testing.assert_allclose(shares.T @ VALUES**2, mean**2 + variance, atol=3e-4)


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
