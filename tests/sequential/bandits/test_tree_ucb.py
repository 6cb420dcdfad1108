"""The index for running sums."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.running_sums import RunningSums
from discreet.sequential.bandits.tree_ucb import TreeUCB
from tests.sequential.trial import opened


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
