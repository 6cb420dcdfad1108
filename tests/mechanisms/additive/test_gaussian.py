"""Gaussian noise: its price, its shape, its bound."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from discreet.accounting.accountant import delta
from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import ConcentratedLoss, GaussianLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import DiscreteGaussian, Gaussian, GaussianShare
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.gaussian import discrete_gaussian, rounded_gaussian
from tests.conformance.audits import Audit, varied
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class VarianceForDeviation(Gaussian):
    """The multiplier taken for a variance in units of a sensitivity that is half too small."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        return answer.noised(rounded_gaussian(bits, answer.steps.shape, answer.scale(self.multiplier, "l2") / 1.5))


@dataclasses.dataclass(frozen=True)
class HalfTheVariance(DiscreteGaussian):
    """Half the variance that the price stands for."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        return answer.noised(discrete_gaussian(bits, answer.steps.shape, answer.scale(self.multiplier, "l2") / 2))


APART = NeighborPair(*(whole_numbers([value], Bound("l2", 1000.0)) for value in (0, 1000)))


def law_of_sum(stddev: float, parties: int) -> Array:
    """The masses of a sum of discrete Gaussians on -reach .. reach."""
    reach = math.ceil(14 * stddev)
    one = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * stddev**2))
    one /= one.sum()
    law = one
    for _ in range(parties - 1):
        law = np.convolve(law, one)
    return law


def divergence(law: Array, shift: int, epsilon: float) -> float:
    """The hockey-stick divergence between a law on the integers and its shift."""
    first = np.concatenate([law, np.zeros(shift)])
    second = np.concatenate([np.zeros(shift), law])
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


def promised(mu: float, epsilon: float) -> float:
    return float(ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)))


CASES = [(1.0, 40.0, 1), (1.0, 40.0, 3), (0.3, 30.0, 2), (2.5, 100.0, 4), (4.0, 33.0, 2)]
TRIAL = MechanismTrial(
    twins=[VarianceForDeviation(), HalfTheVariance()],
    audits=[
        *varied(Gaussian()),
        *varied(DiscreteGaussian()),
        Audit("on a fine grid it is a Gaussian", DiscreteGaussian(0.8), APART, GaussianLoss(0.8 * (1 - 1e-6))),
    ],
)


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


@pytest.mark.parametrize(("mu", "scale", "honest"), CASES)
def test_the_sum_of_the_honest_shares_is_dominated_by_the_promise(mu: float, scale: float, honest: int) -> None:
    """A scalar that moves by mu * scale steps, the whole sensitivity."""
    share = GaussianShare(1 / mu, honest)
    law = law_of_sum(share.stddev(scale, 1), honest)
    shift = math.floor(mu * scale)
    for epsilon in np.linspace(0, 6 * mu + mu**2, 60):
        assert divergence(law, shift, epsilon) <= promised(mu, epsilon) * (1 + 1e-9) + 1e-15


def test_without_the_inflation_the_promise_is_broken() -> None:
    """Not for a scalar that moves far, but for one on a grid so coarse that the loss is a few large steps."""
    mu, scale = 1.0, 1.5
    law = law_of_sum(scale, 1)
    shift = math.ceil(mu * scale)
    broken = [divergence(law, shift, e) > promised(shift / scale, e) * (1 + 1e-6) for e in np.linspace(0, 4, 100)]
    assert any(broken)


def test_two_coordinates_that_move_together_are_covered_too() -> None:
    mu, scale, honest = 1.0, 30.0, 2
    share = GaussianShare(1 / mu, honest)
    law = law_of_sum(share.stddev(scale, 2), honest)
    shift = math.floor(mu * scale / math.sqrt(2))
    pair = np.concatenate([law, np.zeros(shift)]), np.concatenate([np.zeros(shift), law])
    first, second = np.outer(pair[0], pair[0]), np.outer(pair[1], pair[1])
    for epsilon in np.linspace(0, 5, 20):
        found = np.maximum(first - math.exp(epsilon) * second, 0).sum()
        assert found <= promised(mu, epsilon) * (1 + 1e-9) + 1e-15


def test_the_shares_add_up_to_the_scale_of_the_mechanism() -> None:
    answer = whole_numbers([0], Bound("l2", 2.0**20)).stacked(50_000)
    share = GaussianShare(1.5, honest=4)
    total = sum(share.masked(answer, DeterministicBits(seed)) for seed in range(4))
    assert np.std(share.prepared(answer).grid.values(np.asarray(total))) == pytest.approx(1.5 * 2**20, rel=0.02)


def test_a_party_adds_to_its_own_sum_modulo_the_word() -> None:
    answer = whole_numbers([7, -3], Bound("l2", 2.0**20))
    wrapped = dataclasses.replace(answer, steps=np.array([2**63 - 1, -3]))
    for own in (answer, wrapped):
        masked = GaussianShare(1.0, 1).masked(own, DeterministicBits(1))
        assert isinstance(own, Answer)
        assert masked.dtype == np.int64


def test_the_inflation_is_small_on_the_usual_grid_and_grows_with_the_dimension() -> None:
    share = GaussianShare(1.0, 5)
    assert share.inflation(2.0**30, 10**6) < 1e-6
    assert share.inflation(2.0**30, 10**6) > share.inflation(2.0**30, 1) > 0


def test_too_few_honest_parties_or_too_coarse_a_grid_are_refused() -> None:
    with pytest.raises(ParameterError, match="collude"):
        GaussianShare(1.0, 0)
    for share, scale, size in (
        (GaussianShare(1.0, 4), 2.0, 1),
        (GaussianShare(1.0, 400), 100.0, 1),
        (GaussianShare(1.0, 1), 50.0, 10_000),
        (GaussianShare(0.02, 1), 2.0**30, 1),
    ):
        with pytest.raises(ParameterError, match="finer grid"):
            share.stddev(scale, size)
