"""One person with a gradient far longer than the clip, whose group is one or the other, in fair training."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.mechanism import SecretSample
from discreet.deep.fair.constraint import DemographicParity
from discreet.deep.fair.descent import Descent
from discreet.deep.fair.fair_plan import FairPlan
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.permit import Permit
from tests.deep.asked import paid

OFF = np.array([[1.0, -1.0]])  # weights of two groups
CHANGED = SecretSample(1.0, "poisson_replace")


class Still:
    """Multipliers that do not move, so that weights are public numbers; it notes what they would have moved by."""

    def __init__(self, heavy: float = 1.0) -> None:
        self.shares, self.signed = np.array([[0.5, 0.5]]), 0.5 * heavy * OFF
        self.moved = OFF

    def move(self, excess: np.ndarray) -> None:
        self.moved = excess


def nearly_zero() -> nn.Linear:
    """A model that gives a record far away a score below 1."""
    model = nn.Linear(1, 1)
    with torch.no_grad():
        for one in model.parameters():
            one.fill_(0.01)
    return model


def with_noise(plan: Any, part: str, noise: Gaussian) -> Any:
    """The plan in which a part has this noise: all noises are multiples of one number."""
    one = getattr(plan(multiplier=1.0), f"{part}_noise").multiplier
    return plan(multiplier=noise.multiplier / one)


def canary(kind: Any, group: int, plan: Any, bits: Bits, far: float = 90.0) -> Any:
    """A record in one group or the other; 900 away its score is 1."""
    attribute = SensitiveAttribute([group], (0, 1), Budget(1e9, 0.5), bits=bits)
    given = torch.full((1, 1), far), torch.ones(1), attribute, plan, Descent()
    training = kind(nearly_zero(), DemographicParity(), *given)
    training.multipliers = Still()
    training._count(asked_again(training))
    return training


def asked_again(training: Any) -> Permit:
    """A permit for as many releases as an audit takes."""
    return paid(training._attribute, training.plan.event)


def of_one_step(multiplier: float) -> FairPlan:
    """All records are in the sample, and the group of one is changed."""
    return FairPlan(CHANGED, 1, multiplier)
