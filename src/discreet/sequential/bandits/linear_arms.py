"""Invented users with contexts, and regret of agents that choose by these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.sequential.bandits.gram_sums import GramSums
from discreet.sequential.bandits.linear_ucb import LinearUCB
from discreet.sequential.bandits.regret import Regret

ASKED = "simulation of a contextual bandit"


class LinearArms:
    """Rewards of 0 or 1 with mean theta'x, for contexts x of length 1 with coordinates of at least 0.

    Parameters
    ----------
    theta : sequence of float
        At least 0, of length at most 1.
    arms : int
        How many contexts each user has to choose from, drawn anew.

    Examples
    --------
    >>> LinearArms([0.6, 0.8], arms=3).contexts(5, np.random.default_rng(0)).shape
    (5, 3, 2)
    """

    def __init__(self, theta: Sequence[float], arms: int = 10) -> None:
        self.theta: Array = np.array(theta, np.float64)
        check_whole(ASKED, "arms", arms)
        if self.theta.ndim != 1 or not self.theta.size or self.theta.min() < 0 or np.linalg.norm(self.theta) > 1 + 1e-9:
            raise ParameterError(ASKED, f"theta is {theta}", "Give numbers of at least 0, of length at most 1.")
        self.arms = int(arms)

    def contexts(self, runs: int, rng: np.random.Generator) -> Array:
        """The contexts of one user for each run, of shape (runs, arms, dimension)."""
        drawn = np.abs(rng.standard_normal((runs, self.arms, len(self.theta))))
        return np.asarray(drawn / np.linalg.norm(drawn, axis=-1, keepdims=True))

    def rewards(self, means: Array, rng: np.random.Generator) -> Array:
        """A coin for each mean."""
        return (rng.random(means.shape) < means).astype(np.float64)


def simulate_linear(
    agent: LinearUCB,
    environment: LinearArms,
    rounds: int,
    curator: GramSums,
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
    curator : GramSums
        Between the users and the agent.
    marks : int
        How often regret is noted, about.
    random_state : int or None
        Seeds contexts and rewards.

    Examples
    --------
    >>> curator = GramSums(2, 200, epsilon=100.0, runs=5)
    >>> agent = LinearUCB(2, rounds=200, stddev=curator.stddev, runs=5)
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
