"""The sparse vector technique: its price, what it answers, where published variants break."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Grid, Steps
from discreet.mechanisms.online.online_sparse_vector import (
    UNASKED,
    NumericSparseVector,
    OnlineSparseVector,
    SparseVector,
)
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.laplace import rounded_laplace
from tests.conformance.audits import Audit, varied
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class WithoutQueryNoise(SparseVector):
    """Noise on the threshold alone (Algorithm 5 of Lyu, Su and Li 2017): not private for any epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        bar = rounded_laplace(bits, (*answer.steps.shape[:-1], 1), answer.scale(2 / self.epsilon, "linf"))
        return (answer.steps >= bar).astype(np.int64)

    def worst_neighbors(self) -> NeighborPair:
        bound = Bound("linf", 1.0)
        return NeighborPair(whole_numbers([0, 1], bound), whole_numbers([1, 0], bound))


@dataclasses.dataclass(frozen=True)
class TooLittleQueryNoise(SparseVector):
    """Two thirds of the noise that each query needs, and of that of the threshold."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        return SparseVector(1.5 * self.epsilon, self.threshold, self.count).release(answer, bits)


@dataclasses.dataclass(frozen=True)
class ReleasesTheComparedValue(NumericSparseVector):
    """The very number that passed the threshold, without fresh noise."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        bar = rounded_laplace(bits, (*answer.steps.shape[:-1], 1), answer.scale(2 / self.epsilon, "linf"))
        noise = rounded_laplace(bits, answer.steps.shape, answer.scale(0.5 / self.epsilon, "linf"))
        return np.where(answer.steps + noise >= bar, answer.noised(noise), np.nan)


BOUND = Bound("linf", 1.0)
AGAINST_ONE = NeighborPair(whole_numbers(5 * [0] + [1], BOUND), whole_numbers(5 * [1] + [0], BOUND))
RISING = Bound("linf", 1.0, nonnegative=True)
AUDITS = [
    *varied(SparseVector(), AGAINST_ONE, runs=120_000),
    Audit(
        "a record that lifts all but the last",
        SparseVector(),
        NeighborPair(whole_numbers(5 * [0] + [1], RISING), whole_numbers(5 * [1] + [1], RISING)),
        runs=120_000,
    ),
    Audit("what is found", NumericSparseVector(2.0), AGAINST_ONE, PureLoss(1.0), np.isfinite, 120_000),
    Audit(
        "the value",
        NumericSparseVector(2.0, threshold=-1e6),
        NeighborPair(whole_numbers([0], BOUND), whole_numbers([1], BOUND)),
        claim=PureLoss(1.0),
    ),
    Audit(
        "the second of two values",
        NumericSparseVector(2.0, threshold=-1e6, count=2),
        NeighborPair(whole_numbers([0, 0], BOUND), whole_numbers([1, 1], BOUND)),
        claim=PureLoss(0.5),
        view=lambda values: values[:, 1],
    ),
]
TRIAL = MechanismTrial(
    twins=[
        dataclasses.replace(AUDITS[0], mechanism=TooLittleQueryNoise()),
        WithoutQueryNoise(),
        ReleasesTheComparedValue(),
    ],
    audits=AUDITS,
)


def test_the_price_does_not_grow_with_the_number_of_queries() -> None:
    assert SparseVector(0.5, threshold=10.0, count=3).event == PureLoss(0.5)
    assert NumericSparseVector(0.5).event == PureLoss(0.5)


@pytest.mark.parametrize(("monotone", "count"), list(itertools.product((False, True), (1, 2))))
def test_the_law_is_that_of_the_published_noise(monotone: bool, count: int) -> None:
    """Algorithm 7 of Lyu, Su and Li, integrated: noise of 1 / e1 for the threshold, of changes / e2 for each query."""
    epsilon, queries, runs = 1.2, [0, 3], 100_000
    changes = count if monotone else 2 * count
    first = epsilon / (1 + changes ** (2 / 3))
    bar = np.linspace(-60, 60, 240_001) / first
    density = first / 2 * np.exp(-first * np.abs(bar)) * (bar[1] - bar[0])
    passing = [stats.laplace.sf(bar - query / 4, scale=changes / (epsilon - first)) for query in queries]
    answer = whole_numbers([2**18 * query for query in queries], Bound("linf", 2.0**20, nonnegative=monotone))
    found = SparseVector(epsilon, 0.0, count).release(answer.stacked(runs), DeterministicBits(6))
    for outcome in ([1, 1], [1, 0], [0, 1], [0, 0]) if count == 2 else ([0, 1], [0, 0]):
        likely = [p if above else 1 - p for p, above in zip(passing, outcome, strict=True)]
        chance = float((density * likely[0] * likely[1]).sum())
        seen = (found == outcome).all(axis=1).mean()
        assert seen == pytest.approx(chance, abs=5 * math.sqrt(chance / runs))


def _passes(level: float, query: float, scale: float) -> float:
    """The chance that a query with Laplace noise reaches a level."""
    gap = (level - query) / scale
    return 0.5 * math.exp(-gap) if gap > 0 else 1 - 0.5 * math.exp(gap)


def _odds(
    outcomes: tuple[bool, ...], ask: Callable[[tuple[bool, ...]], float], mechanism: SparseVector, monotone: bool
) -> float:
    """The probability of outcomes, for queries that depend on those before: integrated over the threshold's noise."""
    width, scale = float(mechanism.threshold_multiplier(monotone)), float(mechanism.query_multiplier(monotone))

    def given(noise: float) -> float:
        likelihood = 0.5 / width * math.exp(-abs(noise) / width)
        for place, outcome in enumerate(outcomes):
            chance = _passes(mechanism.threshold + noise, ask(outcomes[:place]), scale)
            likelihood *= chance if outcome else 1 - chance
        return likelihood

    ends = 30 * width
    return float(quad(given, -ends, 0, epsabs=1e-14, limit=200)[0] + quad(given, 0, ends, epsabs=1e-14, limit=200)[0])


def test_the_two_noises_use_up_epsilon_exactly() -> None:
    for count in (1, 2, 30):
        mechanism = SparseVector(0.7, 0.0, count)
        for monotone, changes in ((False, 2 * count), (True, count)):
            first, each = mechanism.threshold_multiplier(monotone), mechanism.query_multiplier(monotone)
            assert 1 / first + changes / each == Fraction(0.7)
        assert mechanism.query_multiplier() > mechanism.threshold_multiplier()


def test_no_outcomes_are_likelier_than_promised_even_for_queries_that_depend_on_them() -> None:
    """Every sequence of four outcomes with at most `count` above, where all queries move against what is to come; all
    of them up, where nobody can lower one."""
    for count, monotone in itertools.product((1, 2), (False, True)):
        mechanism, largest = SparseVector(1.0, 0.0, count), 0.0
        for outcomes in itertools.product([False, True], repeat=4):
            if sum(outcomes) > count or (sum(outcomes) == count and not outcomes[-1]):
                continue

            def here(before: tuple[bool, ...]) -> float:
                return 2.0 * sum(before) - 1.0

            def there(
                before: tuple[bool, ...], outcomes: tuple[bool, ...] = outcomes, lowest: float = monotone - 1.0
            ) -> float:
                return here(before) + (1.0 if outcomes[len(before)] else lowest)

            ratio = math.log(_odds(outcomes, there, mechanism, monotone) / _odds(outcomes, here, mechanism, monotone))
            largest = max(largest, abs(ratio))
        assert 0.4 < largest <= 1.0


def test_a_query_beyond_the_margin_is_missed_no_more_often_than_its_chance() -> None:
    for count, chance in itertools.product((1, 20), (0.05, 1e-3)):
        mechanism = SparseVector(1.0, 5.0, count)
        margin = mechanism.margin(chance)

        def query(before: tuple[bool, ...], value: float = 5.0 + margin) -> float:
            return value

        missed = 1 - _odds((True,), query, mechanism, False)
        assert 0.5 * chance < missed <= chance
        assert mechanism.margin(chance, sensitivity=3.0) == pytest.approx(3 * margin)


def test_queries_one_at_a_time_have_the_outcomes_of_a_batch() -> None:
    copies, values = 40_000, [0, 3, -2, 5]
    for count in (1, 2):
        mechanism = SparseVector(1.0, 2.0, count)
        online = OnlineSparseVector(mechanism, DeterministicBits(1))
        found = np.concatenate([online.compare(queries(value, copies)) for value in values], axis=1)
        batch = mechanism.release(whole_numbers(values, Bound("linf", 1.0)).stacked(copies), DeterministicBits(2))
        for outcome in (1, 0, UNASKED):  # five standard deviations of a difference of shares
            one, other = (found == outcome).mean(axis=0), (batch == outcome).mean(axis=0)
            np.testing.assert_allclose(one, other, atol=5 * math.sqrt(0.5 / copies))
        assert ((found == 1).sum(axis=1) <= count).all()


def test_the_online_one_draws_its_threshold_once_and_ends_by_itself() -> None:
    online = OnlineSparseVector(SparseVector(50.0, 10.0, count=2), DeterministicBits(1))
    outcomes: list[int] = []
    for value in (0, 20, 0, 20, 20, 0):
        assert online.ended == (outcomes.count(1) == 2)
        outcomes.append(int(online.compare(queries(value, 1))[0, 0]))
    assert outcomes == [0, 1, 0, 1, UNASKED, UNASKED]


def queries(value: int, copies: int) -> Answer:
    return whole_numbers([value], Bound("linf", 1.0)).stacked(copies)


def test_queries_of_another_grid_or_sensitivity_are_refused() -> None:
    """The threshold is drawn once, in steps of the first queries."""
    for other in (
        dataclasses.replace(queries(0, 3), grid=Grid(-16)),
        dataclasses.replace(queries(0, 3), bound=Bound("linf", 2.0)),
        dataclasses.replace(queries(0, 3), slack=1.0),
    ):
        online = OnlineSparseVector(SparseVector(), DeterministicBits(0))
        online.compare(queries(0, 3))
        with pytest.raises(ParameterError):
            online.compare(other)


def test_thresholds_and_epsilons_of_any_size_are_served() -> None:
    for epsilon, threshold in ((2.0**-31, 1e30), (1e9, -1e30), (1.0, 1e-300), (1.0, 1e300)):
        assert SparseVector(epsilon, threshold).release(queries(0, 3), DeterministicBits(0)).shape == (3, 1)


def test_clear_cases_are_told_apart_and_it_stops_after_the_count() -> None:
    answer = whole_numbers([0, 1000, 0, 1000, 1000, 0], Bound("linf", 1.0)).stacked(50)
    found = SparseVector(2.0, threshold=500.0, count=2).release(answer, DeterministicBits(1))
    np.testing.assert_array_equal(found, np.tile([0, 1, 0, 1, UNASKED, UNASKED], (50, 1)))


def test_values_are_given_only_for_what_was_found_above() -> None:
    answer = whole_numbers([0, 1000, 0, 1000], Bound("linf", 1.0)).stacked(500)
    values = NumericSparseVector(2.0, threshold=500.0, count=1).release(answer, DeterministicBits(1))
    assert np.isnan(values[:, [0, 2, 3]]).all()
    assert values[:, 1].mean() == pytest.approx(1000, abs=1)
    assert values[:, 1].std() == pytest.approx(math.sqrt(2), rel=0.25)


def test_a_nonnegative_sum_needs_less_noise() -> None:
    def mistakes(bound: Bound) -> float:
        answer = whole_numbers([0] * 20, bound).stacked(4000)
        return float((SparseVector(1.0, 15.0).release(answer, DeterministicBits(1)) == 1).mean())

    assert mistakes(Bound("linf", 1.0, nonnegative=True)) < 0.5 * mistakes(Bound("linf", 1.0))


def test_parameters_without_meaning_are_refused() -> None:
    wrong: list[dict[str, Any]] = [{"threshold": math.nan}, {"threshold": math.inf}, {"count": 0}, {"epsilon": -1.0}]
    for mechanism, fields in itertools.product((SparseVector, NumericSparseVector), wrong):
        with pytest.raises(ParameterError):
            mechanism(**fields)
