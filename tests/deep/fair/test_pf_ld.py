"""PF-LD: audits of its primal and of its dual steps, on one person whose group is another."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.deep.fair.pf_ld import PFLDPlan, PFLDTraining
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.permit import Permit
from tests.deep.fair.canary import CHANGED, asked_again, canary, with_noise
from tests.deep.fair.test_attribute_training import gradient, tried
from tests.deep.trial import Part, TrainingTrial


class AskedTwice(PFLDTraining):
    """A dual step takes the mean of two releases, at the price of one."""

    def _dual_step(self, permit: Permit) -> None:
        super()._dual_step(MeanOfTwo(permit))  # type: ignore[arg-type]


class MeanOfTwo:
    """Asks twice."""

    def __init__(self, permit: Permit) -> None:
        self._permit = permit

    def ask(self, question: Any, mechanism: Gaussian) -> Any:
        return sum(self._permit.ask(question, mechanism) for _ in range(2)) / 2


def of_one_epoch(multiplier: float) -> PFLDPlan:
    return PFLDPlan(CHANGED, 1, 1, multiplier)


def dual(kind: type[Any], noise: Gaussian, group: int, bits: Bits) -> Array:
    training = canary(kind, group, with_noise(of_one_epoch, "dual", noise), bits, far=900.0)
    training._shares = np.full((1, 2), 50.0)  # so that means are not cut off
    training._dual_step(asked_again(training))
    return np.asarray(training.multipliers.moved)


TRIAL = TrainingTrial(
    {
        "dual": Part(dual),
        "gradient": Part(partial(gradient, of_one_epoch)),
    },
    partial(tried, PFLDPlan(SecretSample(0.5, "poisson_replace"), 1, 2, 4.0)),
    [("dual", AskedTwice)],
)
