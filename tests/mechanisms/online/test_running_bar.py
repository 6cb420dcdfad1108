"""The sparse vector technique in instalments: its noise, its odds, and what it says of scores."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from discreet.core.answer import Answer, whole_numbers
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Grid
from discreet.mechanisms.online.running_bar import Bar, RunningBar
from discreet.mechanisms.online.sparse_vector import SparseVector
from discreet.noise.deterministic import DeterministicBits


def scores(value: int, copies: int) -> Answer:
    return whole_numbers([value], Bound("linf", 1.0)).stacked(copies)


@pytest.mark.parametrize("count", [1, 2, 30])
def test_the_two_noises_use_up_epsilon_exactly(count: int) -> None:
    bar = Bar(0.7, 0.0, count)
    assert 1 / bar.bar_multiplier + 2 * count / bar.score_multiplier == Fraction(0.7)
    assert bar.score_multiplier > bar.bar_multiplier
    assert bar.event.epsilon == 0.7


def _passes(height: float, score: float, scale: float) -> float:
    """The chance that a score with Laplace noise reaches a height."""
    gap = (height - score) / scale
    return 0.5 * math.exp(-gap) if gap > 0 else 1 - 0.5 * math.exp(gap)


def _odds(outcomes: tuple[bool, ...], ask: Callable[[tuple[bool, ...]], float], bar: Bar) -> float:
    """The probability of these outcomes, for scores that depend on those before: integrated over the bar's noise."""
    width, scale = float(bar.bar_multiplier), float(bar.score_multiplier)

    def given(noise: float) -> float:
        likelihood = 0.5 / width * math.exp(-abs(noise) / width)
        for place, outcome in enumerate(outcomes):
            chance = _passes(bar.threshold + noise, ask(outcomes[:place]), scale)
            likelihood *= chance if outcome else 1 - chance
        return likelihood

    ends = 30 * width
    return float(quad(given, -ends, 0, epsabs=1e-14, limit=200)[0] + quad(given, 0, ends, epsabs=1e-14, limit=200)[0])


@pytest.mark.parametrize("count", [1, 2])
def test_no_outcomes_are_likelier_than_promised_even_for_scores_that_depend_on_them(count: int) -> None:
    """Every sequence of four outcomes with at most `count` passes, where all scores move against what is to come."""
    bar = Bar(1.0, 0.0, count)
    largest = 0.0
    for outcomes in itertools.product([False, True], repeat=4):
        if sum(outcomes) > count or (sum(outcomes) == count and not outcomes[-1]):
            continue

        def here(before: tuple[bool, ...]) -> float:
            return 2.0 * sum(before) - 1.0

        def there(before: tuple[bool, ...], outcomes: tuple[bool, ...] = outcomes) -> float:
            return here(before) + (1.0 if outcomes[len(before)] else -1.0)

        ratio = math.log(_odds(outcomes, there, bar) / _odds(outcomes, here, bar))
        largest = max(largest, abs(ratio))
    assert 0.4 < largest <= 1.0


def test_it_tells_what_the_sparse_vector_tells() -> None:
    copies, values = 40_000, [0, 3, -2, 5]
    running = RunningBar(Bar(1.0, 2.0, 1), DeterministicBits(1))
    passed = np.stack([running.passed(scores(value, copies))[:, 0] for value in values], axis=1)
    asked = np.cumsum(passed, axis=1) - passed < 1
    whole = SparseVector(1.0, 2.0, 1).release(
        whole_numbers(values, Bound("linf", 1.0)).stacked(copies), DeterministicBits(2)
    )
    for place in range(4):  # five standard deviations of a difference of shares
        mine, theirs = (passed & asked)[:, place].mean(), (whole == 1)[:, place].mean()
        assert mine == pytest.approx(theirs, abs=5 * math.sqrt(0.5 / copies))


@pytest.mark.parametrize("chance", [0.05, 1e-3])
@pytest.mark.parametrize("count", [1, 20])
def test_a_score_beyond_the_margin_is_missed_no_more_often_than_its_chance(count: int, chance: float) -> None:
    bar = Bar(1.0, 5.0, count)
    margin = bar.margin(chance)
    missed = 1 - _odds((True,), lambda before: 5.0 + margin, bar)
    assert 0.5 * chance < missed <= chance
    assert bar.margin(chance, sensitivity=3.0) == pytest.approx(3 * margin)


def test_scores_of_another_grid_or_sensitivity_are_refused() -> None:
    """The bar is drawn once, in steps of the first scores."""
    for other in (
        dataclasses.replace(scores(0, 3), grid=Grid(-16)),
        dataclasses.replace(scores(0, 3), bound=Bound("linf", 2.0)),
        dataclasses.replace(scores(0, 3), slack=1.0),
    ):
        running = RunningBar(Bar(1.0, 0.0, 1), DeterministicBits(0))
        running.passed(scores(0, 3))
        with pytest.raises(ParameterError):
            running.passed(other)


def test_thresholds_and_epsilons_of_any_size_are_served() -> None:
    for epsilon, threshold in ((2.0**-31, 1e30), (1e9, -1e30), (1.0, 1e-300)):
        assert RunningBar(Bar(epsilon, threshold, 1), DeterministicBits(0)).passed(scores(0, 3)).shape == (3, 1)
