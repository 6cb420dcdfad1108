"""Shares of a budget: what all releases cost together, and which noise each gets."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.vectors.spherical_laplace import SphericalLaplace
from discreet.questions.columns.total import count_of
from discreet.questions.vectors.second_moments import second_moments_of
from discreet.releases.shares import BudgetShare, shared
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

SCHEMA = Schema.numeric(-1.0, 1.0, 4)
SHARES = (
    BudgetShare(count_of(SCHEMA, "x0"), 0.2),
    BudgetShare(second_moments_of(SCHEMA, SCHEMA.features, 1.0), 0.8),
)


def test_all_releases_together_cost_the_budget() -> None:
    data = PrivateData.of(np.zeros((5, 4)), SCHEMA, Budget(0.7, 1e-6))
    plan = shared(data, Budget(0.7, 1e-6), SHARES)
    assert 0.99e-6 < delta(plan.event, 0.7) <= 1e-6
    rough, fine = plan.noises
    assert isinstance(fine, Gaussian)
    assert rough.multiplier / fine.multiplier == pytest.approx(2.0)


def test_without_delta_epsilons_add_up_and_vectors_get_spherical_noise() -> None:
    data = PrivateData.of(np.zeros((5, 4)), SCHEMA, Budget(0.7))
    plan = shared(data, Budget(0.7), SHARES)
    assert 0.699 < pure_epsilon(plan.event) <= 0.7
    rough, fine = plan.noises
    assert isinstance(fine, SphericalLaplace)
    assert not isinstance(rough, SphericalLaplace)
    assert pure_epsilon(fine.event) / pure_epsilon(rough.event) == pytest.approx(4 ** (2 / 3), rel=1e-4)
