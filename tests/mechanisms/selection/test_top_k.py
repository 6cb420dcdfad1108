"""Several high scores: the price, the order, what refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon
from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.top_k import TopK
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, varied
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class ForThePriceOfOne(TopK):
    """Each choice with the whole epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        return TopK(self.epsilon * self.count, self.count).release(answer, bits)


BOUND = Bound("linf", 1.0)


TRIAL = MechanismTrial(
    twins=[ForThePriceOfOne()],
    audits=[
        *varied(TopK(2.0), NeighborPair(whole_numbers([1, 1, 0, 0, 0], BOUND), whole_numbers([0, 0, 1, 1, 1], BOUND))),
        Audit("one of twenty", TopK(1.0, 1), Exponential(1.0).worst_neighbors()),
    ],
)


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
