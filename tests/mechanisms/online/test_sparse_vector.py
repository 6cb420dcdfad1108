"""The sparse vector technique: its price, what it answers, where published variants break."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Steps
from discreet.mechanisms.online.sparse_vector import UNASKED, NumericSparseVector, SparseVector
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.laplace import rounded_laplace
from tests.conformance.audits import Audit, varied


@dataclasses.dataclass(frozen=True)
class WithoutQueryNoise(SparseVector):
    """Noise on the threshold alone (Algorithm 5 of Lyu, Su and Li 2017): not private for any epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        bar = rounded_laplace(bits, (*answer.steps.shape[:-1], 1), answer.scale(2 / self.epsilon, "linf"))
        return (answer.steps >= bar).astype(np.int64)

    def worst_neighbors(self) -> Apart:
        bound = Bound("linf", 1.0)
        return Apart(whole_numbers([0, 1], bound), whole_numbers([1, 0], bound))


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
AGAINST_ONE = Apart(whole_numbers(5 * [0] + [1], BOUND), whole_numbers(5 * [1] + [0], BOUND))
RISING = Bound("linf", 1.0, nonnegative=True)
AUDITS = [
    *varied(SparseVector(), AGAINST_ONE, runs=120_000),
    Audit(
        "a record that lifts all but the last",
        SparseVector(),
        Apart(whole_numbers(5 * [0] + [1], RISING), whole_numbers(5 * [1] + [1], RISING)),
        runs=120_000,
    ),
    Audit("what is found", NumericSparseVector(2.0), AGAINST_ONE, PureLoss(1.0), np.isfinite, 120_000),
    Audit(
        "the value",
        NumericSparseVector(2.0, threshold=-1e6),
        Apart(whole_numbers([0], BOUND), whole_numbers([1], BOUND)),
        claim=PureLoss(1.0),
    ),
    Audit(
        "the second of two values",
        NumericSparseVector(2.0, threshold=-1e6, count=2),
        Apart(whole_numbers([0, 0], BOUND), whole_numbers([1, 1], BOUND)),
        claim=PureLoss(0.5),
        view=lambda values: values[:, 1],
    ),
]
BROKEN_TWINS = [
    dataclasses.replace(AUDITS[0], mechanism=TooLittleQueryNoise()),
    WithoutQueryNoise(),
    ReleasesTheComparedValue(),
]


def test_the_price_does_not_grow_with_the_number_of_queries() -> None:
    assert SparseVector(0.5, threshold=10.0, count=3).event == PureLoss(0.5)
    assert NumericSparseVector(0.5).event == PureLoss(0.5)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("count", [1, 2])
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


def test_clear_cases_are_told_apart_and_it_stops_after_so_many() -> None:
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


@pytest.mark.parametrize("fields", [{"threshold": math.nan}, {"threshold": math.inf}, {"count": 0}, {"epsilon": -1.0}])
@pytest.mark.parametrize("mechanism", [SparseVector, NumericSparseVector])
def test_parameters_without_meaning_are_refused(
    mechanism: type[SparseVector | NumericSparseVector], fields: dict[str, float]
) -> None:
    with pytest.raises(ParameterError):
        mechanism(**fields)  # type: ignore[arg-type]
