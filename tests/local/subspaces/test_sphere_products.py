"""Claims about products by PrivUnit, and about components by whatever way: see also the tests of all randomisers."""

from __future__ import annotations

import numpy as np

from discreet.accounting import accountant
from discreet.core.budget import Budget
from discreet.learners import PCA
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.local.aggregator import Aggregator
from discreet.local.subspaces.gaussian_products import GaussianProducts
from discreet.local.subspaces.sphere_products import SphereProducts
from discreet.local.subspaces.squared_sine import squared_sine
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Schema
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.local.subspaces.product_trial import check_law, check_refusals, check_subspace, elongated
from tests.local.trial import ReportTrial

RANDOMIZERS = [SphereProducts(1.0), SphereProducts(2.0, size=3, radius=3.0)]
TRIAL = ReportTrial(RANDOMIZERS, fingerprints={"sphere_products": "cf5d5ad2abedd8da"})


def test_the_price_is_what_was_asked() -> None:
    for randomizer in RANDOMIZERS:
        assert 0.99 * randomizer.epsilon < accountant.epsilon(randomizer.event, 0.0) <= randomizer.epsilon


def test_estimates_are_unbiased_with_the_noise_they_say() -> None:
    for randomizer in RANDOMIZERS:
        check_law(randomizer)


def test_subspaces_are_found_with_less_noise() -> None:
    check_subspace(SphereProducts)
    assert SphereProducts(1.0, 50).stddev < 0.5 * GaussianProducts(1.0, 50).stddev


def test_the_learner_agrees_under_local_trust() -> None:
    """Both find the subspace that holds nine tenths of the variance, so each finds the other's."""
    rows = elongated(20_000, 6, 2)
    data = PrivateData(Local(Matrix(rows, Schema.numeric(-1.0, 1.0, 6))), MemoryLedger(Budget(4.0, 1e-6)))
    learned = PCA(2, epsilon=4.0, delta=1e-6).fit(data).components_
    for randomizer in (SphereProducts(4.0, 6), GaussianProducts(4.0, 6)):
        collector = Aggregator(randomizer, simulated=True)
        collector.add(randomizer.reports(rows, DeterministicBits(1)))
        assert squared_sine(collector.estimate().components(2), learned) < 0.1
    assert squared_sine(np.eye(6)[:2], learned) < 0.1


def test_other_reports_are_refused() -> None:
    check_refusals(RANDOMIZERS[1])
