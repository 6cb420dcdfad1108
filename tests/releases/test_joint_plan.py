"""Several releases with one price: the proportions, the price."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.events import Composed, LaplaceLoss
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.mechanisms.vectors.spherical_laplace import SphericalLaplace
from discreet.questions.columns.column_moments import column_moments_of
from discreet.questions.columns.total import count_of
from discreet.questions.vectors.second_moments import second_moments_of
from discreet.releases.joint_plan import JointPlan, Stage, priced, staged, vector_noise
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData


def test_the_price_of_epsilon_and_of_noise_is_turned_the_right_way() -> None:
    assert priced(Quantile(0.5), 3.0).epsilon == 1.5
    assert priced(Gaussian(6.0), 3.0).multiplier == 2.0


def test_parts_keep_their_proportions_and_use_the_whole_budget() -> None:
    plan = calibrate(JointPlan((Laplace(4.0), Quantile(0.75))), Budget(0.5))
    count, quantile = plan.mechanisms
    assert quantile.epsilon == pytest.approx(3 / count.multiplier)
    assert pure_epsilon(plan.event) == pytest.approx(0.5, rel=1e-5)


def test_a_budget_with_delta_is_kept_by_all_together() -> None:
    plan = calibrate(JointPlan((Gaussian(10.0), Quantile(0.3), Quantile(0.3))), Budget(1.0, 1e-6))
    assert delta(plan.event, 1.0) <= 1e-6


def test_a_single_part_has_its_own_event() -> None:
    assert JointPlan((Laplace(2.0),)).event == LaplaceLoss(2.0)
    assert isinstance(JointPlan((Laplace(2.0), Laplace(2.0))).event, Composed)
    twice = Laplace(2.0)
    assert JointPlan((twice, Laplace(8.0), twice), 2.0).mechanisms == (Laplace(1.0), Laplace(4.0), Laplace(1.0))
    assert JointPlan((twice, twice), 2.0).event == Composed((LaplaceLoss(1.0), LaplaceLoss(1.0)))


SCHEMA = Schema.numeric(-1.0, 1.0, 4)
SHARES = (
    Stage(count_of(SCHEMA, "x0"), 0.2),
    Stage(second_moments_of(SCHEMA, SCHEMA.features, 1.0), 0.8),
)


def test_all_releases_together_cost_the_budget() -> None:
    data = PrivateData.of(np.zeros((5, 4)), SCHEMA, Budget(0.7, 1e-6))
    plan = staged(data, SHARES, Budget(0.7, 1e-6), vector_noise)
    assert 0.99e-6 < delta(plan.event, 0.7) <= 1e-6
    rough, fine = plan.mechanisms
    assert isinstance(fine, Gaussian)
    assert rough.multiplier / fine.multiplier == pytest.approx(2.0)


def test_without_delta_epsilons_add_up_and_vectors_get_spherical_noise() -> None:
    data = PrivateData.of(np.zeros((5, 4)), SCHEMA, Budget(0.7))
    plan = staged(data, SHARES, Budget(0.7), vector_noise)
    assert 0.699 < pure_epsilon(plan.event) <= 0.7
    rough, fine = plan.mechanisms
    assert isinstance(fine, SphericalLaplace)
    assert not isinstance(rough, SphericalLaplace)
    assert pure_epsilon(fine.event) / pure_epsilon(rough.event) == pytest.approx(4 ** (2 / 3), rel=1e-4)


def test_releases_of_one_stage_share_its_part() -> None:
    data = PrivateData.of(np.zeros((5, 4)), SCHEMA, Budget(0.7, 1e-6))
    stages = (Stage(count_of(SCHEMA, "x0"), 0.5, 4), Stage(count_of(SCHEMA, "x1"), 0.5))
    plan = staged(data, stages, Budget(0.7, 1e-6), vector_noise)
    assert [one.multiplier / plan.mechanisms[-1].multiplier for one in plan.mechanisms] == pytest.approx([2] * 4 + [1])
    assert len(plan.spreads) == 2
    assert plan.spreads[0].stddev == pytest.approx(2 * plan.spreads[1].stddev, rel=0.1)


@pytest.mark.parametrize("epsilon", [0.03, 1e-6])
def test_parts_with_much_noise_of_two_kinds_are_calibrated(epsilon: float) -> None:
    """A share of a millionth: a billion times that noise, which is tried first, is more than any mechanism takes."""
    budget = Budget(epsilon, 1e-9)
    data = PrivateData.of(np.zeros((5, 4)), SCHEMA, budget)
    stages = (Stage(count_of(SCHEMA, "x0"), 1e-6), Stage(column_moments_of(SCHEMA, SCHEMA.features), 1.0, 3))
    plan = staged(data, stages, budget)
    assert {type(one) for one in plan.mechanisms} == {Laplace, Gaussian}
    assert 0.99e-9 < delta(plan.event, epsilon) <= 1e-9
