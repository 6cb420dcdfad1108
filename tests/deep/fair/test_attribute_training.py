"""Training that hides the group of a person: audits of its releases, on one person whose group is another."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.grid import Array, Steps
from discreet.core.mechanism import SecretSample
from discreet.deep.fair.attribute_training import AttributeTraining
from discreet.deep.fair.constraint import DemographicParity
from discreet.deep.fair.descent import Descent
from discreet.deep.fair.fair_plan import FairPlan
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute
from discreet.deep.noise.histogram_then_gradient import HistogramThenGradient
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.permit import Permit
from tests.deep.asked import view_of
from tests.deep.fair.canary import asked_again, canary, of_one_step, with_noise
from tests.deep.fair.test_fair_training import linear, people
from tests.deep.trial import LARGE, Part, TrainingTrial


class ExactSizes(AttributeTraining):
    """Group sizes from the data, without noise: what the publication divides by."""

    def _count(self, permit: Permit) -> None:
        codes = view_of(self._attribute).codes
        self._shares = np.maximum(np.array([[np.mean(codes == 0), np.mean(codes == 1)]]), 0.05)


class OneClip(AttributeTraining):
    """The sensitivity of a group that is changed is taken for one clip."""

    def _private_gradient(self, permit: Permit) -> dict[str, Tensor]:
        return super()._private_gradient(OfOneClip(permit))  # type: ignore[arg-type]


class OfOneClip:
    """Asks with a gradient of which half the sensitivity is counted."""

    def __init__(self, permit: Permit) -> None:
        self._permit = permit

    def ask(self, question: Any, mechanism: HistogramThenGradient) -> Any:
        return self._permit.ask(question, replace(mechanism, gradient=Halved(mechanism.gradient.multiplier)))


class Halved(Gaussian):
    """Half of the noise, at the price of all of it."""

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return super().noise(bits, shape, scale / 2)


def counts(kind: type[Any], noise: Gaussian, group: int, bits: Bits) -> Array:
    training = canary(kind, group, with_noise(of_one_step, "counts", noise), bits)
    training._count(asked_again(training))
    return np.asarray(training._shares)


def histogram(kind: type[Any], noise: Gaussian, group: int, bits: Bits) -> Array:
    training = canary(kind, group, with_noise(of_one_step, "histogram", noise), bits, far=900.0)
    training._shares = np.full((1, 2), 50.0)  # so that means are not cut off
    training._private_gradient(asked_again(training))
    return np.asarray(training.multipliers.moved)


def gradient(plan: Any, kind: type[Any], noise: Gaussian, group: int, bits: Bits) -> Array:
    training = canary(kind, group, with_noise(plan, "gradient", noise), bits)
    found = training._private_gradient(asked_again(training))
    return np.concatenate([one.double().numpy().ravel() for one in found.values()])


def tried(plan: Any, kind: type[Any], budget: Budget) -> tuple[Any, Any]:
    x, y, group = people(40)
    attribute = SensitiveAttribute(group, (0, 1), budget)
    return kind(linear(), DemographicParity(), x, y, attribute, plan, Descent()), attribute


TRIAL = TrainingTrial(
    {
        "counts": Part(counts, base=2 * LARGE),
        "histogram": Part(histogram),
        "gradient": Part(partial(gradient, of_one_step)),
    },
    partial(tried, FairPlan(SecretSample(0.5, "poisson_replace"), 2, 4.0)),
    [("counts", ExactSizes), ("gradient", OneClip)],
)
