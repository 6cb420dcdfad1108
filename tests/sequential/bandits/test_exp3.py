"""Exp3 against an adversary."""

from __future__ import annotations

import math

import numpy as np

from discreet.sequential.bandits.exp3 import Exp3
from discreet.sequential.bandits.simulators.environments import AdversarialArms
from discreet.sequential.bandits.simulators.simulation import simulate
from discreet.sequential.bandits.ucb1 import UCB1


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
