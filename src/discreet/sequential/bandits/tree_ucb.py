"""Upper confidence bounds for running sums with the noise of a tree."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent, Arms


class TreeUCB(Agent):
    """Pull the arm with the largest mean + sqrt(2 ln t / N) + margin / N, from a curator of `RunningSums`.

    A running sum has the noise of at most m = L nodes, L being the number of levels, of scale b = L / epsilon each. It
    exceeds b sqrt(32 ln t max(m, 4 ln t)) with probability at most t^-4 on either side: Chan, Shi and Song 2011,
    Corollary 2.9. Mishra and Thakurta 2015; Tossou and Dimitrakakis 2016.

    Parameters
    ----------
    arms, runs : int
        As for `Agent`.
    rounds : int
        Public. As for the curator.
    epsilon : float
        Public. As for the curator.

    Examples
    --------
    >>> TreeUCB(arms=3, rounds=1000).partial_fit(0, -2.5).predict()
    1
    """

    purpose: ClassVar[str] = "DP-UCB with trees"
    lowest: ClassVar[float] = -math.inf
    highest: ClassVar[float] = math.inf

    def __init__(self, arms: int, *, rounds: int, epsilon: float = 1.0, runs: int | None = None) -> None:
        super().__init__(arms, runs=runs)
        check_positive(self.purpose, "epsilon", epsilon)
        check_whole(self.purpose, "rounds", rounds)
        self.levels, self.epsilon = int(rounds).bit_length(), float(epsilon)

    def index(self) -> Array:
        """The mean and both margins."""
        log = math.log(self.rounds_ + 1)
        noise = self.levels / self.epsilon * math.sqrt(32 * log * max(self.levels, 4 * log))
        return np.asarray((self.totals_ + noise) / self.pulls_ + np.sqrt(2 * log / self.pulls_))

    def learn(self, arms: Arms, responses: Array) -> None:
        """Take the sums of all rewards of these arms so far."""
        self.totals_[self._run, arms] = 0.0
        super().learn(arms, responses)
