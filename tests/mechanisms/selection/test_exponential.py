"""The exponential mechanism: its price, its law."""

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
from discreet.core.events import Repeated
from discreet.core.grid import Steps
from discreet.mechanisms.online.online_sparse_vector import SparseVector
from discreet.mechanisms.selection.exponential import Exponential, below_best
from discreet.noise.contest import gumbel_argmax
from discreet.noise.deterministic import DeterministicBits
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
TRIAL = MechanismTrial(
    twins=[WithoutTheTwo()],
    audits=[
        *varied(Exponential()),
        Audit("all scores but one rise", Exponential(1.3), RISING, runs=120_000),
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
