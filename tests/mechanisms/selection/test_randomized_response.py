"""Randomised response: its price, its law, its estimate."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon
from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss, Repeated
from discreet.core.grid import Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.selection.randomized_response import RandomizedResponse
from discreet.noise.bernoulli import bernoulli
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.uniform import uniform_integers
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class LiesTooRarely(RandomizedResponse):
    """The chance of the other categories taken for the chance of any: one term of k is forgotten."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        truth = answer.steps[..., 0]
        anything = uniform_integers(bits, truth.shape, self.categories)
        rarely = 1 / (math.exp(self.epsilon) + self.categories - 1)
        return np.where(bernoulli(bits, truth.shape, rarely), anything, truth)


TRIAL = MechanismTrial(
    alone="what one person reports: no relation, unit or sum plays a part",
    twins=[LiesTooRarely()],
    audits=[
        Audit(f"{categories} categories", mechanism, mechanism.worst_neighbors())
        for epsilon, categories in ((1.0, 2), (1.5, 3), (2.0, 10))
        for mechanism in [RandomizedResponse(epsilon, categories)]
    ],
)


@pytest.mark.parametrize("categories", [2, 3, 50])
def test_the_price_is_epsilon_and_never_below(categories: int) -> None:
    price = epsilon(RandomizedResponse(1.0, categories).event, 0.0)
    assert 1.0 - 1e-12 <= price <= 1.0 + 1e-9


def test_many_reports_over_many_categories_cost_less_than_pure_ones() -> None:
    assert epsilon(Repeated(RandomizedResponse(0.5, 50).event, 50), 1e-6) < epsilon(Repeated(PureLoss(0.5), 50), 1e-6)


def test_the_truth_is_told_as_often_as_it_should_be() -> None:
    person = whole_numbers([2], Bound("linf", 4.0), Neighbors.REPLACE).stacked(200_000)
    reports = RandomizedResponse(1.0, 4).release(person, DeterministicBits(1))
    expected = np.full(4, 1 / (math.e + 3))
    expected[2] = math.e / (math.e + 3)
    np.testing.assert_allclose(np.bincount(reports) / 200_000, expected, atol=5 * 0.5 / math.sqrt(200_000))


def test_the_estimate_undoes_the_lies() -> None:
    truth = np.repeat([0, 1, 2], [60_000, 30_000, 10_000])
    people = dataclasses.replace(whole_numbers([0], Bound("linf", 3.0), Neighbors.REPLACE), steps=truth[:, None])
    mechanism = RandomizedResponse(2.0, 3)
    counts = np.bincount(mechanism.release(people, DeterministicBits(1)), minlength=3)
    np.testing.assert_allclose(mechanism.estimated(counts.astype(float)), [60_000, 30_000, 10_000], atol=1500)


@pytest.mark.parametrize("fields", [{"categories": 1}, {"categories": 2.5}, {"epsilon": 0.0}, {"epsilon": 1000.0}])
def test_parameters_without_meaning_are_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        RandomizedResponse(**fields)  # type: ignore[arg-type]


def test_a_number_that_is_no_category_counts_as_the_nearest() -> None:
    bound = Bound("linf", 3.0)
    for strange, nearest in ((-5, 0), (99, 2)):
        first, second = (
            RandomizedResponse(1.0, 3).release(
                whole_numbers([value], bound, Neighbors.REPLACE).stacked(200), DeterministicBits(1)
            )
            for value in (strange, nearest)
        )
        np.testing.assert_array_equal(first, second)
