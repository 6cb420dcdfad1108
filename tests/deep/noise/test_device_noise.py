"""Sums that stay on a device: noise of the same deviation, whole steps by the same door."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.deep.noise.device_noise import device_gaussian
from discreet.deep.noise.exact_sum import device_sum, exact_sum
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits

CPU, BITS = torch.device("cpu"), DeterministicBits(0)


def test_the_noise_of_a_device_has_the_price_and_the_deviation_of_the_exact_one() -> None:
    size = 40_000
    noise, whole = device_gaussian(1.5, CPU), torch.zeros(size, dtype=torch.float64)
    released = noise.release(device_sum(whole, 0.2, 2.0), BITS)  # type: ignore[arg-type]
    assert noise.event == Gaussian(1.5).event
    assert released.dtype == torch.float32
    assert float(released.std()) == pytest.approx(1.5 * 0.2, rel=0.02)
    here, there = exact_sum(whole, 0.2, 2.0), device_sum(whole, 0.2, 2.0)
    assert there.sensitivity == pytest.approx(here.sensitivity("l2"), rel=1e-12)
    with pytest.raises(NotPermitted, match="given a Answer"):
        noise.release(here, BITS)
    with pytest.raises(NotPermitted, match="given a DeviceAnswer"):
        Gaussian(1.5).release(there, BITS)  # type: ignore[arg-type]


def test_a_run_whose_sums_stay_on_their_device_makes_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for bands in (1, 2):
        monkeypatch.setattr("discreet.deep.questions.sampled_gradient.on_processor", lambda _: False)
        torch.manual_seed(0)
        x, model = torch.randn(2000, 2), nn.Linear(2, 2)
        data = PrivateTensors(x, (x[:, 0] > 0).long(), Budget(5.0, 1e-5))
        plan = TrainingPlan.of(Budget(5.0, 1e-5), batch=200, expected_size=2000, epochs=4, bands=bands)
        each = nn.CrossEntropyLoss(reduction="none")
        run = Trainer(model, torch.optim.SGD(model.parameters(), lr=1.0), each, data, plan)
        assert run.run().number == 40
        assert (model(x).argmax(dim=1) == (x[:, 0] > 0)).float().mean() > 0.9
