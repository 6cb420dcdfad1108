"""Several releases with one price: the proportions, the price."""

from __future__ import annotations

import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.events import Composed, LaplaceLoss
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.releases.joint_plan import JointPlan, priced


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
