"""The exponential mechanism: its price, its law."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from discreet.accounting.accountant import epsilon
from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss, Repeated
from discreet.core.grid import Array, Steps
from discreet.mechanisms.online.online_sparse_vector import SparseVector
from discreet.mechanisms.selection.exponential import Exponential, NoisyMax, PermuteAndFlip, TopK, below_best
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.laplace import rounded_exponential, rounded_laplace
from discreet.noise.noisy_argmax import gumbel_argmax
from tests.conformance.audits import Audit, varied
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class WithoutTheTwo(Exponential):
    """Half the noise, as if no score could fall."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        return gumbel_argmax(bits, below_best(answer), answer.scale(1 / self.epsilon, "linf"))


def _shares(scores: list[int], bound: Bound, price: float) -> np.ndarray:
    answer = whole_numbers(scores, bound).stacked(200_000)
    chosen = Exponential(price).release(answer, DeterministicBits(5))
    return np.bincount(chosen, minlength=len(scores)) / 200_000


RISING = NeighborPair(
    *(whole_numbers(scores, Bound("linf", 1.0, nonnegative=True)) for scores in (20 * [0], [0, *19 * [1]]))
)


@dataclasses.dataclass(frozen=True)
class FlippedWithoutTheTwo(PermuteAndFlip):
    """Half the noise, as if no score could fall."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        noise = rounded_exponential(bits, answer.steps.shape, answer.scale(1 / self.epsilon, "linf"))
        return np.argmax(answer.steps + noise, axis=-1)


def permuted_and_flipped(scores: list[int], scale: float) -> np.ndarray:
    """The law of the algorithm as published: over all orders, the chance to be taken before anybody else."""
    accept, law = np.exp((np.array(scores) - max(scores)) / scale), np.zeros(len(scores))
    for order in itertools.permutations(range(len(scores))):
        left = 1.0
        for candidate in order:
            law[candidate] += left * accept[candidate] / math.factorial(len(scores))
            left *= 1 - accept[candidate]
    return law


COUNTS = [([0, 1], 1.5), ([1, 0], 1.5), ([3, 3, 3], 0.7), ([0, 2, 2, 1], 1.0), ([5, 4, 0, 5, 4], 2.0), ([7], 1.0)]


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


@dataclasses.dataclass(frozen=True)
class ForThePriceOfOne(TopK):
    """Each choice with the whole epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        return TopK(self.epsilon * self.count, self.count).release(answer, bits)


BOUND = Bound("linf", 1.0)
TRIAL = MechanismTrial(
    twins=[
        WithoutTheTwo(),
        FlippedWithoutTheTwo(),
        AsIfMonotone(),
        WithTheNoisyScore(),
        ForThePriceOfOne(),
    ],
    audits=[
        *varied(Exponential()),
        Audit("all scores but one rise", Exponential(1.3), RISING, runs=120_000),
        *varied(PermuteAndFlip()),
        Audit("all scores but one rise", PermuteAndFlip(1.3), RISING, runs=120_000),
        *varied(NoisyMax()),
        Audit("all scores but one rise", NoisyMax(1.3), RISING, runs=120_000),
        *varied(TopK(2.0), NeighborPair(whole_numbers([1, 1, 0, 0, 0], BOUND), whole_numbers([0, 0, 1, 1, 1], BOUND))),
        Audit("one of twenty", TopK(1.0, 1), Exponential(1.0).worst_neighbors()),
    ],
)


def test_the_price_is_pure_epsilon_alone_and_less_than_advanced_composition_together() -> None:
    assert epsilon(Exponential(0.5).event, 0.0) == pytest.approx(0.5)
    many = Repeated(Exponential(0.1).event, 100)
    rho = 100 * 0.1**2 / 8
    assert epsilon(many, 1e-6) <= rho + 2 * math.sqrt(rho * math.log(1e6))


def test_scores_at_both_ends_of_the_integers_are_told_apart() -> None:
    """Their distance does not fit into int64."""
    answer = whole_numbers([-(2**63), 2**63 - 1, 0], Bound("linf", 1.0)).stacked(100)
    assert (Exponential(1.0).release(answer, DeterministicBits(1)) == 1).all()
    assert (SparseVector(1.0, count=3).release(answer, DeterministicBits(2))[:, :2] == [0, 1]).all()


@pytest.mark.parametrize(("nonnegative", "factor"), [(False, 0.5), (True, 1.0)])
def test_a_score_wins_by_the_exponential_of_itself(nonnegative: bool, factor: float) -> None:
    scores = [0, 1, 3, 2]
    weights = np.exp(factor * 0.8 * np.array(scores))
    shares = _shares(scores, Bound("linf", 1.0, nonnegative), 0.8)
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=5 * 0.5 / math.sqrt(200_000))


def test_scores_out_of_sight_do_not_overflow() -> None:
    shares = _shares([-(2**61), 2**61, 0], Bound("linf", 1.0), 1.0)
    np.testing.assert_array_equal(shares, [0, 1, 0])


def test_an_epsilon_of_zero_is_refused() -> None:
    with pytest.raises(ParameterError):
        Exponential(0.0)


def test_the_price_covers_the_divergence_of_two_scores_that_change_places_and_hardly_more() -> None:
    """P = (p, 1 - p) against its mirror image, with odds of exp(epsilon / 2): a loss of bounded range epsilon."""
    p = 1 / (1 + math.exp(-0.05))
    for order, value in zip(Exponential(0.1).event.orders, Exponential(0.1).event.values, strict=True):
        if 1.5 <= order <= 16:
            exact = math.log(p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)) / (order - 1)
            assert exact <= value <= 1.1 * exact


def test_the_price_is_pure_and_not_that_of_a_bounded_range() -> None:
    assert PermuteAndFlip(0.3).event == PureLoss(0.3)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_counts_win_as_by_permuting_and_flipping(nonnegative: bool) -> None:
    """On the coarsest grid there is, ties included: no place is better than another."""
    for seed, (scores, budget) in enumerate(COUNTS):
        answer = whole_numbers(scores, Bound("linf", 1.0, nonnegative)).stacked(60_000)
        law = permuted_and_flipped(scores, (1 if nonnegative else 2) / budget)
        seen = np.bincount(PermuteAndFlip(budget).release(answer, DeterministicBits(seed)), minlength=len(scores))
        assert law.sum() == pytest.approx(1.0)
        assert stats.chisquare(seen, law * 60_000).pvalue > 1e-4 or len(scores) == 1


def test_the_expected_error_is_that_of_the_published_algorithm() -> None:
    """One count more, in the second place: noise in whole numbers would give every tie to the first, 0.19."""
    answer = whole_numbers([0, 1], Bound("linf", 1.0, nonnegative=True)).stacked(200_000)
    error = (PermuteAndFlip(1.45).release(answer, DeterministicBits(1)) == 0).mean()
    assert error == pytest.approx(math.exp(-1.45) / 2, abs=0.004)  # 0.117, and five standard deviations


def test_it_finds_the_best_score_more_often_than_the_exponential_mechanism() -> None:
    answer = whole_numbers([4, 2, 2, 2], Bound("linf", 1.0)).stacked(50_000)
    flip = (PermuteAndFlip(1.0).release(answer, DeterministicBits(2)) == 0).mean()
    exponential = (Exponential(1.0).release(answer, DeterministicBits(3)) == 0).mean()
    assert flip > exponential + 0.02


def test_a_nan_epsilon_is_refused() -> None:
    with pytest.raises(ParameterError):
        PermuteAndFlip(float("nan"))


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
