"""The average of weights over steps."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.core.errors import ParameterError
from discreet.deep.training.weight_average import WeightAverage


def test_the_average_is_the_exponential_one_after_a_warm_start() -> None:
    model = nn.BatchNorm1d(1)  # it has buffers
    average, expected = WeightAverage(model, 0.9), 1.0
    for step in range(200):
        with torch.no_grad():
            model.weight.fill_(float(step % 7))
            assert model.running_mean is not None
            model.running_mean.fill_(float(step))
        average.update(step)
        kept = min(0.9, (1 + step) / (10 + step))
        expected = kept * expected + (1 - kept) * (step % 7)
        assert float(average.model.state_dict()["weight"]) == pytest.approx(expected, rel=1e-5)
    assert average.model.state_dict()["running_mean"] == 199
    assert not any(one.requires_grad for one in average.model.parameters())


def test_a_decay_outside_0_and_1_is_refused() -> None:
    for wrong in (0.0, 1.0, float("nan")):
        with pytest.raises(ParameterError, match="decay"):
            WeightAverage(nn.Linear(1, 1), wrong)
