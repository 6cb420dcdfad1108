"""Permute-and-flip: its price, its law."""

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
from discreet.core.grid import Steps
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.exponential import rounded_exponential


@dataclasses.dataclass(frozen=True)
class WithoutTheTwo(PermuteAndFlip):
    """Half the noise, as if no score could fall."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        noise = rounded_exponential(bits, answer.steps.shape, answer.scale(1 / self.epsilon, "linf"))
        return np.argmax(answer.steps + noise, axis=-1)


BROKEN_TWINS = [WithoutTheTwo()]


def test_the_price_is_pure_and_not_that_of_a_bounded_range() -> None:
    assert PermuteAndFlip(0.3).event == PureLoss(0.3)


def _permuted_and_flipped(scores: list[int], scale: float, runs: int) -> np.ndarray:
    """The algorithm as published, run by run."""
    rng = np.random.default_rng(0)
    chosen = np.zeros(len(scores))
    accept = np.exp((np.array(scores) - max(scores)) / scale)
    for _ in range(runs):
        for candidate in rng.permutation(len(scores)):
            if rng.random() < accept[candidate]:
                chosen[candidate] += 1
                break
    return chosen / runs


def test_exponential_noise_picks_as_permuting_and_flipping_does() -> None:
    """On a fine grid, where ties have no weight."""
    fine, scores = 2**20, [0, 1, 3]
    answer = whole_numbers([score * fine for score in scores], Bound("linf", float(fine))).stacked(60_000)
    seen = np.bincount(PermuteAndFlip(1.0).release(answer, DeterministicBits(1)), minlength=3) / 60_000
    np.testing.assert_allclose(
        seen, _permuted_and_flipped(scores, 2.0, 40_000), atol=5 * 0.5 * math.sqrt(1 / 60_000 + 1 / 40_000)
    )


def test_it_finds_the_best_score_more_often_than_the_exponential_mechanism() -> None:
    answer = whole_numbers([4, 2, 2, 2], Bound("linf", 1.0)).stacked(50_000)
    flip = (PermuteAndFlip(1.0).release(answer, DeterministicBits(2)) == 0).mean()
    exponential = (Exponential(1.0).release(answer, DeterministicBits(3)) == 0).mean()
    assert flip > exponential + 0.02


def test_a_nan_epsilon_is_refused() -> None:
    with pytest.raises(ParameterError):
        PermuteAndFlip(float("nan"))
