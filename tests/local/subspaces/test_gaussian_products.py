"""Claims about products with Gaussian noise: see also the tests of all randomisers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.accounting import accountant
from discreet.core.errors import ParameterError
from discreet.local.subspaces.gaussian_products import GaussianProducts
from discreet.local.subspaces.half_vector import product_vectors
from tests.local.subspaces.product_trial import check_law, check_refusals, check_subspace
from tests.local.trial import ReportTrial

RANDOMIZERS = [GaussianProducts(1.0), GaussianProducts(2.0, size=4, radius=3.0, failure=1e-4)]
TRIAL = ReportTrial(RANDOMIZERS, fingerprints={"gaussian_products": "90033d7e9ebc1929"})


def test_the_price_is_what_was_asked() -> None:
    for randomizer in RANDOMIZERS:
        assert accountant.epsilon(randomizer.event, randomizer.failure) == pytest.approx(randomizer.epsilon, rel=1e-6)


def test_no_two_half_vectors_are_farther_apart_than_the_sensitivity() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4)) * rng.choice([0.1, 1.0, 10.0], 300)[:, None]
    rows = np.concatenate([rows, np.eye(4) * 9, -np.eye(4) * 9])
    rows *= np.minimum(1, 3 / np.linalg.norm(rows, axis=1))[:, None]
    randomizer = RANDOMIZERS[1]
    rounded = np.rint(product_vectors(rows) / randomizer.step) * randomizer.step
    farthest = np.linalg.norm(rounded[:, None] - rounded, axis=2).max()
    assert 0.999999 * randomizer.sensitivity < farthest <= randomizer.sensitivity
    assert randomizer.sensitivity == pytest.approx(math.sqrt(2) * 9, rel=1e-7)


def test_estimates_are_unbiased_with_the_noise_they_say() -> None:
    for randomizer in RANDOMIZERS:
        check_law(randomizer)


def test_subspaces_are_found() -> None:
    check_subspace(GaussianProducts)


def test_other_reports_and_parameters_are_refused() -> None:
    check_refusals(RANDOMIZERS[1])
    for failure in (0.0, 1.0, math.nan):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            GaussianProducts(failure=failure)
