"""Agents that draw the arm to pull."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.sequential.bandits.randomized_agents import Exp3, ThompsonSampling
from discreet.sequential.bandits.simulators.environments import AdversarialArms
from discreet.sequential.bandits.simulators.simulation import simulate
from discreet.sequential.bandits.ucb import UCB1


def test_regret_stays_under_its_theorem_where_ucb1_fails() -> None:
    """Rewards that punish whoever pulls the arms in a fixed order: the adversary knows UCB1, which draws no coins."""
    rounds, rng = 2000, np.random.default_rng(0)
    agent, table = UCB1(3), np.zeros((rounds, 3))
    for row in table:
        row[:] = (rng.random(3) < 0.5).astype(float)
        row[agent.predict()] = 0.0
        agent.partial_fit(agent.predict(), 0.0)
    environment = AdversarialArms(table)
    bound = 2 * math.sqrt(rounds * 3 * math.log(3))
    assert simulate(Exp3(3, runs=20, random_state=0), environment, rounds).mean < bound
    assert simulate(UCB1(3), environment, rounds).mean > bound


def test_means_are_drawn_from_beta_posteriors() -> None:
    """20,000 draws: means are known to 0.0015, and five deviations are allowed."""
    agent = ThompsonSampling(2, runs=20_000, random_state=0)
    for response in (1.0, 1.0, 0.0):
        agent.partial_fit(np.zeros(20_000, int), np.full(20_000, response))
    drawn = agent.index()
    assert drawn[:, 0].mean() == pytest.approx(3 / 5, abs=0.008)
    assert drawn[:, 1].mean() == pytest.approx(1 / 2, abs=0.011)
    assert drawn[:, 0].var() == pytest.approx(1 / 25, rel=0.05)
