"""Several views of each record."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.mechanism import SecretSample
from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity
from discreet.deep.forms.rounding import MARGIN, SLACK
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from tests.deep.asked import draw


def product(out: Tensor, wanted: Tensor) -> Tensor:
    return out[:, 0] * wanted


def run(views: AugmentationMultiplicity) -> Tensor:
    """What one step adds up of a record whose gradient is 100 times itself, for a clip of 1 and hardly any noise."""
    model, x = nn.Linear(3, 1, bias=False), torch.tensor([[3.0, 4.0, 0.0]])
    data = PrivateTensors(x, torch.full((1,), 100.0), Budget(1.0, 1e-5))
    plan = TrainingPlan(SecretSample(1.0), Gaussian(2.0**-20), 1, 1.0, 1.0)
    draw(SampledGradient(model, product, data, plan, chunk=2, views=views))
    assert model.weight.grad is not None
    return model.weight.grad[0]


def test_a_record_of_many_views_moves_a_sum_by_the_clip_alone() -> None:
    same = run(AugmentationMultiplicity(lambda x: x, 8))
    own = 1 - MARGIN - SLACK
    torch.testing.assert_close(same, own * torch.tensor([0.6, 0.8, 0.0]), atol=1e-3, rtol=0.0)
    turns = iter([False, True, True, True] * 9)
    flipped = run(AugmentationMultiplicity(lambda x: x.flip(1) if next(turns) else x, 4))
    mean = torch.tensor([3.0, 16.0, 9.0]) / torch.tensor([3.0, 16.0, 9.0]).norm()
    torch.testing.assert_close(flipped, own * mean, atol=1e-3, rtol=0.0)


def test_records_that_change_one_another_are_refused_before_any_charge() -> None:
    shuffled = AugmentationMultiplicity(lambda x: 0.5 * x + 0.5 * x.roll(1, dims=0), 2)
    noisy = AugmentationMultiplicity(lambda x: x + torch.randn_like(x), 2)
    for views in (AugmentationMultiplicity(lambda x: x, 2), noisy):
        views.check(torch.zeros(4, 3))
    data = PrivateTensors(torch.zeros(5, 3), torch.zeros(5), Budget(1.0, 1e-5))
    plan, model = TrainingPlan(SecretSample(0.5), Gaussian(9.0), 1, 1.0, 1.0), nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters())
    for views, word in (
        (shuffled, "by itself"),
        (AugmentationMultiplicity(lambda x: x.repeat(2, 1), 2), "keeps their number"),
    ):
        with pytest.raises(ParameterError, match=word):
            Trainer(model, optimizer, product, data, plan, augmentation=views).run()
    assert data.ledger.balance().certified == 0
    with pytest.raises(ParameterError, match="count"):
        AugmentationMultiplicity(lambda x: x, 0)
