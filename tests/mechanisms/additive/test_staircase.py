"""Staircase noise: its price, its shape, its bound."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.additive.staircase import Staircase, _second_moment
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.staircase import discrete_staircase
from tests.conformance.audits import varied
from tests.mechanisms.trial import MechanismTrial

NUMBER = Bound("l1", 1.0), 1, Neighbors.ADD_REMOVE


@dataclasses.dataclass(frozen=True)
class NarrowSteps(Staircase):
    """Steps of two thirds of the sensitivity, as if noise could be rescaled by a factor of the price."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        return answer.noised(discrete_staircase(bits, answer.steps.shape, 2**21 // 3, 2**20 // 3, self.epsilon))


def law(period: int, tread: int, fall: float, reach: int) -> Array:
    size = np.abs(np.arange(-reach, reach + 1))
    weights = np.exp(-fall * (size // period + (size % period >= tread)))
    return np.asarray(weights / weights.sum())


TRIAL = MechanismTrial(twins=[NarrowSteps()], audits=[*varied(Staircase()), *varied(Staircase(1.2, "absolute"))])


def test_the_price_is_pure() -> None:
    assert Staircase(0.5).event == PureLoss(0.5)


@pytest.mark.parametrize(("period", "tread"), [(1, 1), (7, 1), (7, 3), (7, 7), (12, 5)])
def test_no_shift_up_to_the_sensitivity_loses_more_than_epsilon(period: int, tread: int) -> None:
    logs = np.log(law(period, tread, 0.8, 200))
    worst = max(np.abs(logs[shift:] - logs[:-shift]).max() for shift in range(1, period + 1))
    assert worst == pytest.approx(0.8)
    assert np.abs(logs[2 * period :] - logs[: -2 * period]).max() == pytest.approx(1.6)


def test_two_coordinates_can_spend_it_twice_within_one_sensitivity() -> None:
    """Why vectors are refused: a step in each of two coordinates, half the sensitivity wide."""
    logs = np.log(law(8, 4, 1.0, 100))
    middle = 100
    assert 2 * (logs[middle] - logs[middle + 4]) == pytest.approx(2.0)
    with pytest.raises(ParameterError, match="2 coordinates"):
        Staircase().release(whole_numbers([0, 0], Bound("l1", 8.0)), DeterministicBits(0))


def integral(tread: float, epsilon: float, power: int) -> float:
    """The mean of |x|^power, by adding up steps."""
    j = np.arange(math.ceil(60 / epsilon) + 2)
    heights = np.exp(-epsilon * j)
    ends = [(j, j + tread, heights), (j + tread, j + 1, heights * math.exp(-epsilon))]
    moment = sum((h * (high ** (power + 1) - low ** (power + 1)) / (power + 1)).sum() for low, high, h in ends)
    return float(moment / sum((h * (high - low)).sum() for low, high, h in ends))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_the_tread_is_the_best_one_for_either_error(epsilon: float) -> None:
    for error, power in (("squared", 2), ("absolute", 1)):
        best = minimize_scalar(
            lambda g, power=power: integral(g, epsilon, power), bounds=(0, 1), method="bounded", options={"xatol": 1e-9}
        )
        assert Staircase(epsilon, error).tread == pytest.approx(best.x, abs=1e-4)  # type: ignore[arg-type]
    assert _second_moment(0.3, epsilon) == pytest.approx(integral(0.3, epsilon, 2), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "share"), [(1.0, 0.9590518), (5.0, 0.3713878), (10.0, 0.0423605)])
def test_its_variance_is_less_than_that_of_laplace_noise(epsilon: float, share: float) -> None:
    found = (Staircase(epsilon).stddev(*NUMBER) / Laplace(1 / epsilon).stddev(*NUMBER)) ** 2
    assert found == pytest.approx(share, rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_the_noise_has_the_deviation_that_it_states(epsilon: float) -> None:
    answer = Answer(np.zeros(1, dtype=np.int64), Grid.of_radius(3.0), Bound("l1", 3.0), Neighbors.ADD_REMOVE)
    noise = Staircase(epsilon).release(answer.stacked(200_000), DeterministicBits(1))
    assert noise.std() == pytest.approx(Staircase(epsilon).stddev(Bound("l1", 3.0), *NUMBER[1:]), rel=0.02)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_on_coarse_grids_hardly_any_tread_would_be_better(epsilon: float) -> None:
    points = np.arange(-2000, 2001.0)
    for period in (1, 2, 3, 5, 10, 30):
        tread = min(math.floor(Staircase(epsilon).tread * period) + 1, period)
        costs = [law(period, r, epsilon, 2000) @ points**2 for r in range(1, period + 1)]
        assert costs[tread - 1] <= 1.2 * min(costs)


@pytest.mark.parametrize(("radius", "slack", "neighbors"), [(2.5, 0.0, "add_remove"), (1.2, 1.0, "replace")])
def test_a_step_is_as_wide_as_the_sensitivity_rounded_up(radius: float, slack: float, neighbors: str) -> None:
    """By the law: steps of 3 and of 4, with the tread that is best for such steps."""
    answer = Answer(np.zeros(1, dtype=np.int64), Grid(0), Bound("l1", radius), Neighbors(neighbors), slack)
    draws = Staircase(1.5).release(answer.stacked(100_000), DeterministicBits(5))[:, 0].astype(int)
    period = 3 if slack == 0 else 4
    b = math.exp(-1.5)
    tread = math.floor(period * (math.cbrt(b * (1 + b) / 2) - b) / (1 - b)) + 1
    expected = 100_000 * law(period, tread, 1.5, 200)[200 - 2 * period : 201 + 2 * period]
    counts = np.bincount(np.clip(draws, -2 * period - 1, 2 * period + 1) + 2 * period + 1)[1:-1]
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_a_count_gets_the_geometric_mechanism() -> None:
    draws = Staircase(1.0).release(whole_numbers([0], Bound("l1", 1.0)).stacked(200_000), DeterministicBits(2))
    b = math.exp(-1.0)
    assert (draws == 0).mean() == pytest.approx((1 - b) / (1 + b), abs=0.005)
    assert draws.var() == pytest.approx(2 * b / (1 - b) ** 2, rel=0.03)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan, 1e-13, 701.0, "1"])
def test_an_epsilon_without_meaning_is_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        Staircase(epsilon)


def test_an_error_without_meaning_is_refused() -> None:
    with pytest.raises(ParameterError, match="cubic"):
        Staircase(1.0, "cubic")  # type: ignore[arg-type]
