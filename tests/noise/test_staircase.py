"""Staircase noise: its law."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.interval import Uniform
from discreet.noise.staircase import _settled, discrete_staircase
from tests.noise.fit import ALARM, ScriptedBits, chi_square


def weights(k: Array, period: int, tread: int, fall: float) -> Array:
    size = np.abs(k)
    return np.exp(-fall * (size // period + (size % period >= tread)))


@pytest.mark.parametrize(
    ("period", "tread", "fall"), [(1, 1, 0.7), (5, 2, 1.0), (7, 7, 0.3), (20, 1, 3.0), (9, 4, 8.0), (3, 1, 0.05)]
)
def test_draws_have_the_probabilities_of_the_stairs(period: int, tread: int, fall: float) -> None:
    reach = period * math.ceil(40 / fall + 2)
    whole = weights(np.arange(-reach, reach + 1.0), period, tread, fall).sum()
    draws = discrete_staircase(DeterministicBits(1), 150_000, period, tread, fall)
    assert chi_square(draws, lambda k: weights(k, period, tread, fall) / whole, reach) > ALARM


def test_wide_stairs_are_uniform_on_each_step() -> None:
    period, tread = 2**40, 2**38
    draws = np.abs(discrete_staircase(DeterministicBits(2), 200_000, period, tread, 2.0))
    on_tread = draws[(draws % period) < tread] % period
    assert on_tread.mean() / tread == pytest.approx(0.5, abs=0.01)
    share = on_tread.size / draws.size
    assert share == pytest.approx(0.25 / (0.25 + 0.75 * math.exp(-2)), abs=0.01)


@pytest.mark.parametrize("fall", [2.0**-40, 1e-9, 100.0, 700.0])
def test_every_price_has_draws(fall: float) -> None:
    assert discrete_staircase(DeterministicBits(3), (2, 3), 5, 2, fall).shape == (2, 3)


def test_close_calls_are_settled_exactly() -> None:
    """The chance of the tread is 1 / (1 + 3 exp(-1)), 0.4753..: bits on either side of it, and then more bits."""
    chance = 1 / (1 + 3 * math.exp(-1.0))
    near = round(chance * 2**64)
    above, below = (Uniform(ScriptedBits([], [0] * 9), near + off) for off in (2**14, -(2**14)))
    assert not _settled(above, 4, 1, 1.0)
    assert _settled(below, 4, 1, 1.0)
    assert _settled(Uniform(ScriptedBits([], []), 2**64 - 1), 4, 4, 1.0)


@pytest.mark.parametrize(
    ("period", "tread", "fall"), [(0, 1, 1.0), (3, 0, 1.0), (3, 4, 1.0), (3, 1, 0.0), (3, 1, 800.0)]
)
def test_stairs_that_cannot_be_are_refused(period: int, tread: int, fall: float) -> None:
    with pytest.raises(ParameterError, match="tread"):
        discrete_staircase(DeterministicBits(0), 1, period, tread, fall)
