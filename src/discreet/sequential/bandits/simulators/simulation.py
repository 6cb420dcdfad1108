"""Agents, curators and invented users, brought together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent
from discreet.sequential.bandits.curator import OpenCurator, RewardCurator
from discreet.sequential.bandits.gram_sums import OpenGram
from discreet.sequential.bandits.linear_ucb import LinearUCB
from discreet.sequential.bandits.reward_map import Clipped, RewardMap
from discreet.sequential.bandits.simulators.environments import Environment, LinearArms
from discreet.sequential.bandits.simulators.regret import ASKED, Regret
from discreet.sequential.reading import reward_of


class NoCurator:
    """Give out rewards as they are, scaled to [0, 1]: NOT PRIVATE, for baselines on invented rewards.

    Parameters
    ----------
    reward_map : RewardMap
        Public.

    Examples
    --------
    >>> float(NoCurator(Clipped(0, 10)).privatise(2.5))
    0.25
    """

    def __init__(self, reward_map: RewardMap = Clipped()) -> None:  # noqa: B008 - it is frozen
        self.reward_map = reward_map

    def privatise(self, reward: ArrayLike, arm: ArrayLike = 0, last: ArrayLike = True) -> Any:
        """The reward itself."""
        return self.reward_map.unit(reward_of(reward, arm))


def simulate(
    agent: Agent,
    environment: Environment,
    rounds: int,
    curator: OpenCurator[RewardCurator] | NoCurator | None = None,
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
    curator : OpenCurator, optional
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
    >>> from discreet.core.budget import Budget
    >>> from discreet.sequential import BernoulliArms, BernoulliCurator, ThompsonSampling
    >>> agent, curator = ThompsonSampling(2, runs=20, random_state=0), BernoulliCurator(2.0).open(Budget(2.0))
    >>> regret = simulate(agent, BernoulliArms([0.9, 0.1]), 500, curator, random_state=0)
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


def simulate_linear(
    agent: LinearUCB,
    environment: LinearArms,
    rounds: int,
    curator: OpenGram,
    *,
    marks: int = 100,
    random_state: int | None = None,
) -> Regret:
    """Let an agent choose by contexts, all its runs at once, and note its regret.

    Parameters
    ----------
    agent : LinearUCB
        A new one, with runs; it learns.
    environment : LinearArms
        Invented users.
    rounds : int
        How many users in each run.
    curator : OpenGram
        What `GramSums(...).open(...)` gives: between the users and the agent.
    marks : int
        How often regret is noted, about.
    random_state : int or None
        Seeds contexts and rewards.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.sequential import GramSums
    >>> sums = GramSums(2, 200, epsilon=2.0, runs=5)
    >>> agent, curator = LinearUCB(2, rounds=200, stddev=sums.stddev, runs=5), sums.open(Budget(2.0, 1e-6))
    >>> simulate_linear(agent, LinearArms([0.8, 0.1], arms=3), 200, curator, random_state=0).values.shape
    (5, 100)
    """
    if agent.runs is None or agent.dimension != len(environment.theta):
        obstacle = f"the agent has runs={agent.runs} and dimension {agent.dimension}"
        raise ParameterError(ASKED, obstacle, f"Give it a number of runs, and dimension {len(environment.theta)}.")
    rng, run = np.random.default_rng(random_state), np.arange(agent.runs)

    def play(step: int) -> Array:
        contexts = environment.contexts(len(run), rng)
        means, arms = contexts @ environment.theta, agent.predict(contexts)
        agent.partial_fit(curator.privatise(contexts[run, arms], environment.rewards(means[run, arms], rng)))
        return np.asarray(means.max(axis=1) - means[run, arms])

    return Regret.of(agent.purpose, rounds, marks, play)
