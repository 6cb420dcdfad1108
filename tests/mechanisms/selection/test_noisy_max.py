"""Report noisy max: its price, its law."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon
from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Steps
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.noisy_max import NoisyMax, TopK
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.laplace import rounded_laplace
from tests.conformance.audits import Audit, varied


@dataclasses.dataclass(frozen=True)
class WithTheNoisyScore(NoisyMax):
    """The winning noisy score released along with its index, scaled for the index alone."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        noise = rounded_laplace(bits, answer.steps.shape, answer.scale(1 / self.epsilon, "linf"))
        noisy: Steps = answer.steps + noise
        return np.stack([noisy.argmax(axis=-1), noisy.max(axis=-1)], axis=-1)


@dataclasses.dataclass(frozen=True)
class AsIfMonotone(NoisyMax):
    """Scale sensitivity / epsilon although scores may fall."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        noise = rounded_laplace(bits, answer.steps.shape, answer.scale(1 / self.epsilon, "linf"))
        return np.argmax(answer.steps + noise, axis=-1)


RISING = NeighborPair(
    *(whole_numbers(scores, Bound("linf", 1.0, nonnegative=True)) for scores in (20 * [0], [0, *19 * [1]]))
)


@dataclasses.dataclass(frozen=True)
class ForThePriceOfOne(TopK):
    """Each choice with the whole epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        return TopK(self.epsilon * self.count, self.count).release(answer, bits)


BOUND = Bound("linf", 1.0)
AUDITS = [
    *varied(NoisyMax()),
    Audit("all scores but one rise", NoisyMax(1.3), RISING, runs=120_000),
    *varied(TopK(2.0), NeighborPair(whole_numbers([1, 1, 0, 0, 0], BOUND), whole_numbers([0, 0, 1, 1, 1], BOUND))),
    Audit("one of twenty", TopK(1.0, 1), Exponential(1.0).worst_neighbors()),
]
BROKEN_TWINS = [
    AsIfMonotone(),
    WithTheNoisyScore(),
    ForThePriceOfOne(),
]


def test_the_price_is_pure() -> None:
    assert NoisyMax(0.3).event == PureLoss(0.3)


def test_the_best_score_wins_most_often_and_more_so_with_more_budget() -> None:
    answer = whole_numbers([10, 8, 0], Bound("linf", 1.0)).stacked(50_000)

    def winners(epsilon: float) -> Array:
        chosen = NoisyMax(epsilon).release(answer, DeterministicBits(1))
        return np.bincount(chosen, minlength=3) / 50_000

    assert winners(0.1)[0] < winners(1.0)[0] < winners(30.0)[0] == 1.0
    assert np.argmax(winners(0.1)) == 0


@pytest.mark.parametrize("lead", [0, 1, 3])
def test_two_counts_win_as_with_noise_in_real_numbers(lead: int) -> None:
    """The difference of two Laplace variables of scale b exceeds d with probability exp(-d / b) (1/2 + d / (4 b))."""
    for place, scores in enumerate(([0, lead], [lead, 0])):
        answer = whole_numbers(scores, Bound("linf", 1.0)).stacked(100_000)
        lost = (NoisyMax(1.5).release(answer, DeterministicBits(place)) == place).mean()
        distance = lead * 0.75
        assert lost == pytest.approx(math.exp(-distance) * (0.5 + distance / 4), abs=0.008)


def test_an_infinite_epsilon_is_refused() -> None:
    with pytest.raises(ParameterError):
        NoisyMax(float("inf"))


def test_the_price_is_that_of_so_many_choices() -> None:
    assert epsilon(TopK(1.0, 4).event, 0.0) == pytest.approx(1.0)
    assert epsilon(TopK(20.0, 200).event, 1e-6) < 10.0


def test_the_choices_are_different_and_the_best_come_first() -> None:
    answer = whole_numbers([0, 50, 100, 150], Bound("linf", 1.0)).stacked(100)
    chosen = TopK(20.0, 3).release(answer, DeterministicBits(1))
    np.testing.assert_array_equal(chosen, np.tile([3, 2, 1], (100, 1)))
    everything = TopK(0.1, 4).release(answer, DeterministicBits(1))
    np.testing.assert_array_equal(np.sort(everything, axis=1), np.tile(range(4), (100, 1)))


@pytest.mark.parametrize("count", [0, -1, 1.5])
def test_a_count_that_is_no_count_is_refused(count: int) -> None:
    with pytest.raises(ParameterError):
        TopK(1.0, count)


def test_more_choices_than_scores_are_refused() -> None:
    with pytest.raises(ParameterError, match="Ask for fewer"):
        TopK(1.0, 3).release(whole_numbers([1, 2], Bound("linf", 1.0)), DeterministicBits(1))
