"""Laplace noise: its price, its shape, its bound."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.laplace import rounded_laplace
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class UnitVariance(Laplace):
    """Noise of unit variance where unit scale is due: it spends sqrt(2) epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        scale = answer.scale(self.multiplier, "l1") / math.sqrt(2)
        return answer.noised(rounded_laplace(bits, answer.steps.shape, scale))


TRIAL = MechanismTrial(twins=[UnitVariance()])


def test_the_price_is_pure_and_the_inverse_of_the_multiplier() -> None:
    assert Laplace(4.0).event == LaplaceLoss(4.0)
    assert pure_epsilon(Laplace(4.0).event) == pytest.approx(0.25)


def test_the_noise_has_the_scale_of_the_sensitivity() -> None:
    bound = Bound("l1", 3.0)
    answer = Answer(np.zeros(200_000, dtype=np.int64), Grid.of_radius(3.0), bound, Neighbors.ADD_REMOVE)
    stacked = dataclasses.replace(answer, steps=answer.steps[:, None])
    noise = Laplace(2.0).release(stacked, DeterministicBits(1))
    assert np.abs(noise).mean() == pytest.approx(6.0, rel=0.02)
    assert noise.std() == pytest.approx(Laplace(2.0).stddev(bound, 1, Neighbors.ADD_REMOVE), rel=0.02)


def test_a_vector_bounded_in_l2_gets_noise_for_its_l1_reach() -> None:
    answer = whole_numbers([0] * 100, Bound("l2", 2.0**20)).stacked(1000)
    noise = Laplace(1.0).release(answer, DeterministicBits(2))
    assert np.abs(noise).mean() == pytest.approx(10 * 2.0**20, rel=0.02)


def _loss(points: Array, shift: float) -> Array:
    return np.clip(2 * points - shift, -shift, shift)


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.1, 2.0), (3.0, 1.0), (5.0, 5.0)])
def test_a_split_shift_loses_no_more_than_a_whole_one(first: float, second: float) -> None:
    """The claim of laplace.md, by numerical integration of both hockey-stick divergences."""
    points = np.linspace(-20, 30, 1251)
    weights = 0.5 * np.exp(-np.abs(points)) * (points[1] - points[0])
    weights /= weights.sum()
    sums = _loss(points, first)[:, None] + _loss(points, second)[None, :]
    mass, ratios = weights[:, None] * weights[None, :], np.exp(sums)
    whole = first + second
    for epsilon in np.linspace(-0.9, 0.9, 7) * whole:
        pair = (mass * np.maximum(ratios - math.exp(epsilon), 0.0)).sum()
        scalar = (weights * np.maximum(np.exp(_loss(points, whole)) - math.exp(epsilon), 0.0)).sum()
        assert pair <= scalar * (1 + 5e-3) + 1e-9


def test_the_outputs_reachable_from_neighbors_are_the_same() -> None:
    """Mironov 2012: float noise leaves some outputs reachable from one neighbor alone; a grid does not."""
    pair = Laplace().worst_neighbors()
    for answer in (pair.first, pair.second):
        assert isinstance(answer, Answer)
        outputs = Laplace().release(answer.stacked(10_000), DeterministicBits(3))
        assert (outputs == np.round(outputs)).all()


@pytest.mark.parametrize("multiplier", [0.0, -1.0, math.inf, math.nan, 1e-13, "1"])
def test_a_multiplier_without_meaning_is_refused(multiplier: float) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        Laplace(multiplier)


def test_noise_of_more_steps_than_can_be_drawn_comes_on_a_coarser_grid() -> None:
    answer = Answer(np.zeros(1, dtype=np.int64), Grid.of_radius(1.0), Bound("l1", 1.0), Neighbors.ADD_REMOVE)
    found = Laplace(2.0**30).release(answer.stacked(2000), DeterministicBits(7))
    step = 2.0 ** (31 - 40)
    assert (found == np.rint(found / step) * step).all()
    assert found.std() == pytest.approx(math.sqrt(2) * 2**30, rel=0.15)
