"""Gaussian noise: its price, its shape, its bound."""

from __future__ import annotations

import dataclasses
import math

import pytest

from discreet.accounting.accountant import delta
from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.gaussian import rounded_gaussian
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class VarianceForDeviation(Gaussian):
    """The multiplier taken for a variance in units of a sensitivity that is half too small."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        return answer.noised(rounded_gaussian(bits, answer.steps.shape, answer.scale(self.multiplier, "l2") / 1.5))


TRIAL = MechanismTrial(twins=[VarianceForDeviation()])


def test_the_price_is_gaussian_privacy_of_the_inverse_multiplier() -> None:
    assert Gaussian(4.0).event == GaussianLoss(4.0)
    assert delta(Gaussian(3.7306316348159).event, 1.0) == pytest.approx(1e-5, rel=1e-6)


def test_the_noise_has_the_deviation_of_the_l2_sensitivity() -> None:
    bound = Bound("linf", 2.0**20)
    answer = whole_numbers([0] * 25, bound).stacked(8000)
    noise = Gaussian(1.5).release(answer, DeterministicBits(1))
    assert noise.std() == pytest.approx(1.5 * 5 * 2.0**20, rel=0.01)
    assert noise.std() == pytest.approx(Gaussian(1.5).stddev(bound, 25, Neighbors.ADD_REMOVE), rel=0.01)


def test_coarse_noise_is_still_centred_on_the_answer() -> None:
    answer = whole_numbers([2**45], Bound("l2", 2.0**35)).stacked(4000)
    released = Gaussian(64.0).release(answer, DeterministicBits(2))
    assert released.mean() == pytest.approx(2.0**45, abs=5 * 2.0**41 / math.sqrt(4000))


@pytest.mark.parametrize("multiplier", [0.0, -1.0, math.inf, math.nan])
def test_a_multiplier_without_meaning_is_refused(multiplier: float) -> None:
    with pytest.raises(ParameterError):
        Gaussian(multiplier)
