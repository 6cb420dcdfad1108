"""Discrete Laplace noise: its price, its shape."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array
from discreet.mechanisms.additive.discrete_laplace import DiscreteLaplace
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.laplace import discrete_laplace
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class OneSided(DiscreteLaplace):
    """Noise that never subtracts: some outputs rule a neighbor out."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        noise = discrete_laplace(bits, answer.steps.shape, answer.scale(self.multiplier, "l1"))
        return answer.noised(np.abs(noise))


TRIAL = MechanismTrial(twins=[OneSided()])


def test_the_price_is_pure_and_never_rounded_down() -> None:
    assert DiscreteLaplace(2.0).event == PureLoss(0.5)
    assert DiscreteLaplace(3.0).event.epsilon * 3 >= 1


def test_counts_stay_whole_and_the_ratio_of_neighbors_is_exact() -> None:
    noise = DiscreteLaplace(2.0).release(whole_numbers([0], Bound("l1", 1.0)).stacked(400_000), DeterministicBits(1))
    assert (noise == np.round(noise)).all()
    zero, one = (noise == 0).mean(), (noise == 1).mean()
    assert zero / one == pytest.approx(math.exp(0.5), rel=0.03)


def test_a_multiplier_of_zero_is_refused() -> None:
    with pytest.raises(ParameterError):
        DiscreteLaplace(0.0)
