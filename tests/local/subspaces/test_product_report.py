"""Claims about products, and about components by whatever way: see also the tests of all randomisers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.accounting import accountant
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.learners import PCA
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.local.aggregator import Aggregator
from discreet.local.subspaces.product_moments import squared_sine
from discreet.local.subspaces.product_report import GaussianProducts, PrivUnitProducts, product_vectors
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Schema
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.local.subspaces.product_trial import check_law, check_refusals, check_subspace, elongated
from tests.local.trial import ReportTrial

BY_SPHERE = [PrivUnitProducts(1.0), PrivUnitProducts(2.0, size=3, radius=3.0)]
BY_NOISE = [GaussianProducts(1.0), GaussianProducts(2.0, size=4, radius=3.0, failure=1e-4)]
RANDOMIZERS = [*BY_SPHERE, *BY_NOISE]
TRIAL = ReportTrial(
    RANDOMIZERS, fingerprints={"sphere_products": "cf5d5ad2abedd8da", "gaussian_products": "90033d7e9ebc1929"}
)


def test_the_price_is_what_was_asked() -> None:
    for randomizer in BY_SPHERE:
        assert 0.99 * randomizer.epsilon < accountant.epsilon(randomizer.event, 0.0) <= randomizer.epsilon
    for noisy in BY_NOISE:
        assert accountant.epsilon(noisy.event, noisy.failure) == pytest.approx(noisy.epsilon, rel=1e-6)


def test_estimates_are_unbiased_with_the_noise_they_say() -> None:
    for randomizer in RANDOMIZERS:
        check_law(randomizer)


def test_subspaces_are_found_and_by_points_of_a_sphere_with_less_noise() -> None:
    check_subspace(GaussianProducts)
    check_subspace(PrivUnitProducts)
    assert PrivUnitProducts(1.0, 50).stddev < 0.5 * GaussianProducts(1.0, 50).stddev


def test_the_learner_agrees_under_local_trust() -> None:
    """Both find the subspace that holds nine tenths of the variance, so each finds the other's."""
    rows = elongated(20_000, 6, 2)
    data = PrivateData(Local(Matrix(rows, Schema.numeric(-1.0, 1.0, 6))), MemoryLedger(Budget(4.0, 1e-6)))
    learned = PCA(2, epsilon=4.0, delta=1e-6).fit(data).components_
    for randomizer in (PrivUnitProducts(4.0, 6), GaussianProducts(4.0, 6)):
        collector = Aggregator(randomizer, simulated=True)
        collector.add(randomizer.reports(rows, DeterministicBits(1)))
        assert squared_sine(collector.estimate().components(2), learned) < 0.1
    assert squared_sine(np.eye(6)[:2], learned) < 0.1


def test_no_two_half_vectors_are_farther_apart_than_the_sensitivity() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4)) * rng.choice([0.1, 1.0, 10.0], 300)[:, None]
    rows = np.concatenate([rows, np.eye(4) * 9, -np.eye(4) * 9])
    rows *= np.minimum(1, 3 / np.linalg.norm(rows, axis=1))[:, None]
    randomizer = BY_NOISE[1]
    rounded = np.rint(product_vectors(rows) / randomizer.step) * randomizer.step
    farthest = np.linalg.norm(rounded[:, None] - rounded, axis=2).max()
    assert 0.999999 * randomizer.sensitivity < farthest <= randomizer.sensitivity
    assert randomizer.sensitivity == pytest.approx(math.sqrt(2) * 9, rel=1e-7)


def test_other_reports_and_parameters_are_refused() -> None:
    check_refusals(BY_SPHERE[1])
    check_refusals(BY_NOISE[1])
    for failure in (0.0, 1.0, math.nan):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            GaussianProducts(failure=failure)
