"""Permute-and-flip: its price, its law."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Steps
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.exponential import rounded_exponential
from tests.conformance.audits import Audit, varied
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class WithoutTheTwo(PermuteAndFlip):
    """Half the noise, as if no score could fall."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        noise = rounded_exponential(bits, answer.steps.shape, answer.scale(1 / self.epsilon, "linf"))
        return np.argmax(answer.steps + noise, axis=-1)


RISING = NeighborPair(
    *(whole_numbers(scores, Bound("linf", 1.0, nonnegative=True)) for scores in (20 * [0], [0, *19 * [1]]))
)
TRIAL = MechanismTrial(
    twins=[WithoutTheTwo()],
    audits=[
        *varied(PermuteAndFlip()),
        Audit("all scores but one rise", PermuteAndFlip(1.3), RISING, runs=120_000),
    ],
)


def test_the_price_is_pure_and_not_that_of_a_bounded_range() -> None:
    assert PermuteAndFlip(0.3).event == PureLoss(0.3)


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


@pytest.mark.parametrize("nonnegative", [True, False])
def test_counts_win_as_by_permuting_and_flipping(nonnegative: bool) -> None:
    """On the coarsest grid there is, ties included: no place is better than another."""
    for seed, (scores, epsilon) in enumerate(COUNTS):
        answer = whole_numbers(scores, Bound("linf", 1.0, nonnegative)).stacked(60_000)
        law = permuted_and_flipped(scores, (1 if nonnegative else 2) / epsilon)
        seen = np.bincount(PermuteAndFlip(epsilon).release(answer, DeterministicBits(seed)), minlength=len(scores))
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
