"""Training that hides whole records: audits of its releases, on nobody, or a person with a long gradient."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.deep.fair.constraint import DemographicParity
from discreet.deep.fair.descent import Descent
from discreet.deep.fair.fair_plan import FairPlan
from discreet.deep.fair.record_training import RecordTraining
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.permit import Permit
from tests.deep.asked import paid
from tests.deep.fair.canary import Still, nearly_zero, with_noise
from tests.deep.fair.test_fair_training import linear, people
from tests.deep.trial import LARGE, Part, TrainingTrial


class AskedTwice(RecordTraining):
    """A step takes the mean of two releases, at the price of one."""

    def _gradient(self, permit: Permit) -> dict[str, Tensor]:
        first, second = (super(AskedTwice, self)._gradient(permit) for _ in range(2))
        return {name: (first[name] + second[name]) / 2 for name in first}


def of_one_step(multiplier: float) -> FairPlan:
    return FairPlan(SecretSample(1.0), 1, multiplier)


def released(part: str, kind: type[Any], noise: Gaussian, count: int, bits: Bits) -> Array:
    """What a part releases about nobody, or about one."""
    x, targets = torch.full((count, 1), 90.0 if part == "gradient" else 900.0), torch.ones(count, 2)
    data, plan = PrivateTensors(x, targets, Budget(1e9, 0.5), bits=bits), with_noise(of_one_step, part, noise)
    training = kind(nearly_zero(), DemographicParity(), data, 2, plan, Descent(smallest_share=1e-9), 1)
    training._shares = np.array([[5e6, 50.0]])  # so that the mean of all is that of nobody
    training.multipliers = still = Still(2.0)
    permit = paid(data, plan.event)
    if part == "counts":
        training._count(permit)
        return np.asarray(training._shares)
    found = np.concatenate([one.double().numpy().ravel() for one in training._gradient(permit).values()])
    return found if part == "gradient" else still.moved


def tried(kind: type[Any], budget: Budget) -> tuple[Any, Any]:
    x, y, group = people(40)
    data = PrivateTensors(x, torch.stack([y, torch.from_numpy(group).float()], dim=1), budget)
    plan = FairPlan(SecretSample(0.5), 2, 4.0)
    return kind(linear(), DemographicParity(), data, 2, plan, Descent(), 40), data


BASES = {"counts": 2 * LARGE, "histogram": 0, "gradient": 0}
TRIAL = TrainingTrial(
    {part: Part(partial(released, part), base) for part, base in BASES.items()}, tried, [("gradient", AskedTwice)]
)
