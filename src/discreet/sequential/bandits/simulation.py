"""Agents, curators and invented users, brought together."""

from __future__ import annotations

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent
from discreet.sequential.bandits.curator import NoCurator, RewardCurator
from discreet.sequential.bandits.environments import Environment
from discreet.sequential.bandits.regret import ASKED, Regret


def simulate(
    agent: Agent,
    environment: Environment,
    rounds: int,
    curator: RewardCurator | NoCurator | None = None,
    *,
    marks: int = 100,
    random_state: int | None = None,
) -> Regret:
    """Let an agent play in an environment, all its runs at once, and note its regret.

    Parameters
    ----------
    agent : Agent
        A new one; it learns.
    environment : Environment
        Invented users.
    rounds : int
        How many pulls in each run.
    curator : RewardCurator, optional
        Between the users and the agent; without it the agent sees rewards themselves, which is not private.
    marks : int
        How often regret is noted, about.
    random_state : int or None
        Seeds the rewards.

    Returns
    -------
    Regret
        After each mark.

    Examples
    --------
    >>> from discreet.sequential.bandits.bernoulli_curator import BernoulliCurator
    >>> from discreet.sequential.bandits.environments import BernoulliArms
    >>> from discreet.sequential.bandits.thompson import ThompsonSampling
    >>> agent = ThompsonSampling(2, runs=20, random_state=0)
    >>> regret = simulate(agent, BernoulliArms([0.9, 0.1]), 500, BernoulliCurator(2.0), random_state=0)
    >>> regret.mean < 0.1 * 0.8 * 500
    True
    """
    if agent.arms != environment.arms:
        obstacle = f"the agent has {agent.arms} arms, the environment {environment.arms}"
        raise ParameterError(ASKED, obstacle, "Give both the same number.")
    between, rng = NoCurator() if curator is None else curator, np.random.default_rng(random_state)

    def play(step: int) -> Array:
        arms = agent.choose()
        agent.learn(arms, between.privatise(environment.rewards(step, arms, rng), arms, agent.last))
        return environment.losses(step, arms)

    return Regret.of(agent.purpose, rounds, marks, play)
