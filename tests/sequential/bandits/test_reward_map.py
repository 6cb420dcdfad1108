"""Rewards as numbers from 0 to 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.sequential.bandits.reward_map import Clipped, RewardMap, Sigmoid

FINITE = st.floats(allow_nan=False, allow_infinity=False)
MAPS: list[RewardMap] = [Clipped(), Clipped(-3.0, 7.5), Clipped(-1e308, 0.0), Sigmoid(), Sigmoid(5.0, 0.1)]


@given(st.lists(st.floats(), min_size=1))
@example([math.nan, math.inf, -math.inf])
def test_any_reward_becomes_a_number_from_0_to_1(rewards: list[float]) -> None:
    for one in MAPS:
        found = one.unit(rewards)
        assert ((found >= 0) & (found <= 1)).all()


@given(FINITE, FINITE)
def test_a_larger_reward_is_never_mapped_to_less(first: float, second: float) -> None:
    for one in MAPS:
        low, high = one.unit(sorted([first, second]))
        assert low <= high


def test_the_sigmoid_can_change_which_arm_is_best() -> None:
    risky, safe = np.array([10.0, -6.0]), np.array([1.0, 1.0])
    assert risky.mean() > safe.mean()
    assert Sigmoid().unit(risky).mean() == pytest.approx(0.50, abs=0.01)
    assert Sigmoid().unit(safe).mean() == pytest.approx(0.73, abs=0.01)
    assert Clipped(-6, 10).unit(risky).mean() > Clipped(-6, 10).unit(safe).mean()


def test_bounds_and_scales_that_cannot_be_are_refused() -> None:
    for lower, upper in ((1.0, 1.0), (2.0, 1.0), (-math.inf, 0.0), (0.0, math.nan), (-1.7e308, 1.7e308)):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            Clipped(lower, upper)
    for center, scale in ((math.nan, 1.0), (0.0, 0.0), (0.0, -1.0)):
        with pytest.raises(ParameterError, match="sigmoid"):
            Sigmoid(center, scale)
