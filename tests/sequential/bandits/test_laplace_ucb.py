"""The index of LDP-UCB-L and its forced pulls."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.sequential.bandits.laplace_ucb import LaplaceUCB


def test_no_arm_has_fewer_pulls_than_the_tail_bound_needs() -> None:
    """The bound of the Laplace sum holds for N > 4 ln t; with 4 arms there are rounds enough for that from 200 on."""
    agent = LaplaceUCB(4, epsilon=1.0)
    for step in range(3000):
        arm = agent.predict()
        agent.partial_fit(arm, 1000.0 * (arm == 0))
        if step > 200:
            assert agent.pulls_.min() >= math.floor(4 * math.log(step + 2))
    assert agent.pulls_[0, 1:].max() <= 4 * math.log(3002) + 1


def test_the_index_has_the_margins_of_the_mean_and_of_the_noise() -> None:
    agent = LaplaceUCB(2, epsilon=0.5)
    for _ in range(100):
        agent.partial_fit(0, 0.3).partial_fit(1, -0.2)
    log = math.log(201)
    margin = math.sqrt(2 * log / 100) + math.sqrt(32 * log / (0.25 * 100))
    np.testing.assert_allclose(agent.index(), [[0.3 + margin, -0.2 + margin]])


def test_an_epsilon_that_is_not_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        LaplaceUCB(2, epsilon=-1.0)
