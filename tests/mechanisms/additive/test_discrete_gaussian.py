"""Discrete Gaussian noise: its price, its shape."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import ConcentratedLoss, GaussianLoss
from discreet.core.grid import Array
from discreet.mechanisms.additive.discrete_gaussian import DiscreteGaussian
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.gaussian import discrete_gaussian
from tests.conformance.audits import Audit, varied
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class HalfTheVariance(DiscreteGaussian):
    """Half the variance that the price stands for."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        return answer.noised(discrete_gaussian(bits, answer.steps.shape, answer.scale(self.multiplier, "l2") / 2))


APART = NeighborPair(*(whole_numbers([value], Bound("l2", 1000.0)) for value in (0, 1000)))
TRIAL = MechanismTrial(
    twins=[HalfTheVariance()],
    audits=[
        *varied(DiscreteGaussian()),
        Audit("on a fine grid it is a Gaussian", DiscreteGaussian(0.8), APART, GaussianLoss(0.8 * (1 - 1e-6))),
    ],
)


def test_the_price_is_concentrated() -> None:
    assert DiscreteGaussian(2.0).event == ConcentratedLoss(0.125)


def test_the_masses_are_those_of_the_discrete_law() -> None:
    answer = whole_numbers([0], Bound("l2", 1.0)).stacked(400_000)
    noise = DiscreteGaussian(1.5).release(answer, DeterministicBits(1))
    places = np.arange(-3, 4)
    weights = np.exp(-(np.arange(-40, 41) ** 2) / (2 * 1.5**2))
    expected = np.exp(-(places**2) / (2 * 1.5**2)) / weights.sum()
    seen = np.array([(noise == place).mean() for place in places])
    np.testing.assert_allclose(seen, expected, atol=5 * 0.5 / np.sqrt(400_000))


def test_a_negative_multiplier_is_refused() -> None:
    with pytest.raises(ParameterError):
        DiscreteGaussian(-1.0)
