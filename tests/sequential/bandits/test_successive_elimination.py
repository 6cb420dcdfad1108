"""Epochs, and arms that are left out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.episode_sums import EpisodeSums
from discreet.sequential.bandits.simulators.environments import BernoulliArms
from discreet.sequential.bandits.simulators.simulation import simulate
from discreet.sequential.bandits.successive_elimination import SuccessiveElimination
from tests.sequential.trial import opened


def test_the_first_epoch_pulls_every_arm_as_often_as_the_paper_says() -> None:
    """Whatever epsilon is; with a small one, noise determines it."""
    for epsilon in (1.0, 0.001):
        agent = SuccessiveElimination(3, epsilon=epsilon, beta=0.01, runs=2)
        first, second = math.log(8 * 3 / 0.01), math.log(4 * 3 / 0.01)
        agent.predict()
        assert (agent._left == int(max(32 * first * 4, 16 * second / epsilon)) + 1).all()


def test_worse_arms_are_left_out_and_the_best_one_is_pulled_for_ever() -> None:
    """Gaps of 0.8 are found in the first epoch, which has 3 episodes; after it there is one arm."""
    agent = SuccessiveElimination(3, epsilon=1.0, beta=0.01, runs=10)
    curator = opened(EpisodeSums(1.0, runs=10), DeterministicBits(0))
    regret = simulate(agent, BernoulliArms([0.1, 0.9, 0.1]), 6000, curator, random_state=0)
    assert agent.left_.tolist() == [[False, True, False]] * 10
    pulls = agent.lengths_[:, [0, 2]]
    assert (pulls == pulls[0, 0]).all()
    np.testing.assert_allclose(regret.values[:, -1], 2 * pulls[0, 0] * 0.8)
    assert not agent.last.any()
    assert regret.mean == pytest.approx(regret.values[0, -1])
