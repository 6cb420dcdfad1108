"""Adaptive clipping: how far a record moves a step, what its noise is, and where the clip goes."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.mechanism import SecretSample
from discreet.deep.clipping.clip_quantile import ClipQuantile
from discreet.deep.forms.rounding import MARGIN, SLACK
from discreet.deep.questions.sampled_gradient import WITHIN, SampledGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.deep.asked import draw, sums_of

BUDGET = Budget(3.0, 1e-5)


def first(out: Tensor, _: Tensor) -> Tensor:
    return out[:, 0]


def asked(x: Tensor, plan: TrainingPlan) -> SampledGradient:
    """Of records whose gradients are themselves."""
    data = PrivateTensors(x, torch.zeros(len(x)), BUDGET, bits=DeterministicBits(5))
    return SampledGradient(nn.Linear(x.shape[1], 1, bias=False), first, data, plan, chunk=256)


def test_a_record_moves_gradients_and_count_together_by_no_more_than_the_reach() -> None:
    quantile = ClipQuantile(0.5, 0.5)
    plan = TrainingPlan(SecretSample(1.0), Gaussian(1.0), 1, 2.0, 1.0, quantile)
    longest = 0.0
    for length in (0.0, 0.1, 1.0, 1.99, 2.0, 2.01, 1e9, math.nan):
        one = asked(torch.tensor([[0.6 * length, 0.8 * length]]), plan)
        sums = sums_of(one, 4)
        assert sums.keys() == {"weight", WITHIN}
        moved = math.hypot(float(sums["weight"].norm()), float(sums[WITHIN]))
        assert moved <= plan.reach(2.0)
        longest = max(longest, moved)
    assert longest > (1 - MARGIN - 2 * SLACK) * plan.reach(2.0)


def test_noise_is_that_of_the_joint_release_at_the_price_of_the_plan() -> None:
    plan = TrainingPlan.of(BUDGET, batch=100, expected_size=1000, epochs=5, quantile=0.5)
    assert plan.quantile is not None
    assert plan.event == TrainingPlan.of(BUDGET, batch=100, expected_size=1000, epochs=5).event
    z, count = plan.noise.multiplier, plan.noise.multiplier * plan.reach(1.0) / plan.quantile.weight
    assert count == pytest.approx(100 / 20)
    assert z * plan.reach(1.0) == pytest.approx((z**-2 - (2 * count) ** -2) ** -0.5)  # Theorem 1 of Andrew et al.
    wide = TrainingPlan(SecretSample(0.5), Gaussian(1.5), 1, 0.2, 10.0, ClipQuantile(0.5, 4.0))
    one = asked(torch.zeros(0, 40_000), wide)
    draw(one)
    drawn = one.trained["weight"].grad
    assert drawn is not None
    assert float(drawn.std()) * 10 == pytest.approx(1.5 * 0.2 * math.sqrt(5), rel=0.02)


def test_the_clip_goes_to_the_quantile_and_a_later_run_goes_on_from_there() -> None:
    torch.manual_seed(0)
    x = torch.randn(1000, 2)
    plan = TrainingPlan(SecretSample(0.2), Gaussian(1.0), 1, 100.0, 200.0, ClipQuantile.of(0.5, 1.0, 200))
    one = asked(x, plan)
    clips = []
    for _ in range(120):
        draw(one)
        clips.append(one.clip)
    found = sum(clips[70:]) / 50
    assert found == pytest.approx(float(x.norm(dim=1).median()), rel=0.1)
    again = asked(x, plan)
    again.load_state_dict(one.state_dict())
    assert again.clip == one.clip


def test_small_batches_leave_the_noise_of_gradients_alone() -> None:
    assert ClipQuantile.of(0.5, multiplier=10.0, batch=8).reach(1.0) < 1.04


@pytest.mark.parametrize("level", [0.0, 1.0, math.nan])
def test_a_share_of_all_or_none_is_refused(level: float) -> None:
    with pytest.raises(ParameterError, match="level"):
        TrainingPlan.of(BUDGET, batch=10, expected_size=100, quantile=level)


def test_the_clip_stays_where_squares_neither_vanish_nor_overflow() -> None:
    median = ClipQuantile.of(0.5, multiplier=1.0, batch=256)
    for first, many, wanted in ((2.0**-39, 1e9, 2.0**-40), (2.0**39, -1e9, 2.0**40)):
        clip = first
        for _ in range(50):
            clip = median.moved(clip, first, many * clip / 1e6, 256)
        assert clip == wanted
