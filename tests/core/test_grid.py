"""On a power-of-two grid a sum is exact and does not depend on order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.core.grid import Grid


@given(st.floats(-1e200, 1e200), st.integers(-60, 60))
def test_cutting_never_makes_a_number_longer(value: float, exponent: int) -> None:
    grid = Grid(exponent)
    cut = float(grid.values(grid.cut(np.array([value])))[0])
    assert abs(cut) <= abs(value)
    assert abs(value) - abs(cut) < grid.step or abs(value) > 2.0**53 * grid.step


@given(st.floats(1e-250, 1e250))
def test_a_radius_is_about_two_to_the_thirty_steps(radius: float) -> None:
    assert 2**29 <= radius / Grid.of_radius(radius).step < 2**30


def test_a_sum_that_floats_lose_is_exact_in_any_order() -> None:
    """Casacuberta et al. 2022: one record can move a float sum by far more than its bound."""
    values = np.array([2.0**53] + [1.0] * 1000)
    forward, backward = sum(values.tolist()), sum(values[::-1].tolist())
    assert forward != backward
    grid = Grid(0)
    steps = grid.cut(values).astype(np.int64)
    assert steps.sum() == steps[::-1].sum() == 2**53 + 1000


def test_a_grid_that_float64_cannot_carry_is_refused() -> None:
    with pytest.raises(ParameterError, match="Rescale"):
        Grid.of_radius(math.ldexp(1.0, -1020))
