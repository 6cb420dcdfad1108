"""Upper confidence bounds: the margins of means and of noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.reward_sums import RunningSums
from discreet.sequential.bandits.ucb import UCB1, LaplaceUCB, TreeUCB
from tests.sequential.trial import opened


def test_the_index_is_the_mean_and_hoeffdings_margin() -> None:
    agent = UCB1(2).partial_fit(0, 1.0).partial_fit(1, 0.5).partial_fit(0, 0.0)
    margins = [math.sqrt(2 * math.log(4) / 2), math.sqrt(2 * math.log(4) / 1)]
    np.testing.assert_allclose(agent.index(), [[0.5 + margins[0], 0.5 + margins[1]]])


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


def test_the_last_running_sum_counts_with_both_margins() -> None:
    agent = TreeUCB(2, rounds=1000, epsilon=0.5)
    agent.partial_fit(0, 7.0).partial_fit(1, -1.0).partial_fit(0, 3.0)
    log = math.log(4)
    noise = 10 / 0.5 * math.sqrt(32 * log * 10)
    index = [(3.0 + noise) / 2 + math.sqrt(log), -1.0 + noise + math.sqrt(2 * log)]
    np.testing.assert_allclose(agent.index(), [index])


def test_running_sums_exceed_the_margin_as_seldom_as_said() -> None:
    """At t = 20 the bound allows 20^-4, one in 160,000; of 20,000 runs with the most nodes, none does."""
    agent, curator = TreeUCB(1, rounds=15), opened(RunningSums(1, 15, 1.0, runs=20_000), DeterministicBits(0))
    for _ in range(15):
        found = curator.privatise(np.full(20_000, 0.5), 0)
    margin = agent.levels * math.sqrt(32 * math.log(20) * max(agent.levels, 4 * math.log(20)))
    assert np.abs(found - 7.5).max() < margin
    assert (found - 7.5).std() == pytest.approx(4 * math.sqrt(2 * 4), rel=0.05)
