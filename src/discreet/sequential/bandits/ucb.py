"""Upper confidence bounds of means: of responses as they are, with Laplace noise, and of running sums."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent, Arms


class UCB1(Agent):
    """Pull the arm with the largest mean + sqrt(2 ln t / N), for responses in [0, 1].

    Auer, Cesa-Bianchi and Fischer 2002, Theorem 1. With the bits of a `BernoulliCurator` this is LDP-UCB-B of Ren,
    Zhou, Liu and Shroff 2020, whose regret grows as 8 coth(epsilon / 2)^2 ln T times the sum of 1 / gap.

    Examples
    --------
    >>> agent = UCB1(arms=2)
    >>> for arm, response in [(0, 1.0), (1, 0.0)]:
    ...     agent = agent.partial_fit(arm, response)
    >>> agent.predict()
    0
    """

    purpose: ClassVar[str] = "UCB1"

    def index(self) -> Array:
        """The mean and its margin."""
        return np.asarray((self.totals_ / self.pulls_) + np.sqrt(2 * math.log(self.rounds_ + 1) / self.pulls_))


class LaplaceUCB(Agent):
    """Pull the arm with the largest mean + sqrt(2 ln t / N) + sqrt(32 ln t / N) / epsilon: LDP-UCB-L.

    The second term bounds the sum of N Laplace variables with probability 1 - 2 t^-4, but only where N > 4 ln t: the
    moment-generating function of Laplace noise exists near 0 only. So an arm with N <= 4 ln(t + 1) is pulled first, the
    least pulled of these before all others. Ren, Zhou, Liu and Shroff 2020, Algorithm LDP-UCB-L; the regret grows as
    8 (1 + 4 / epsilon)^2 ln T times the sum of 1 / gap.

    Parameters
    ----------
    epsilon : float
        Public. That of the `LaplaceCurator`.

    Examples
    --------
    >>> LaplaceUCB(arms=3, epsilon=0.5).partial_fit(0, -2.5).predict()
    1
    """

    purpose: ClassVar[str] = "LDP-UCB-L"
    lowest: ClassVar[float] = -math.inf
    highest: ClassVar[float] = math.inf

    def __init__(self, arms: int, *, epsilon: float = 1.0, runs: int | None = None) -> None:
        super().__init__(arms, runs=runs)
        check_positive(self.purpose, "epsilon", epsilon)
        self.epsilon = float(epsilon)

    def index(self) -> Array:
        """The mean and both margins, or more than any of these where a pull is forced."""
        log = math.log(self.rounds_ + 1)
        width = math.sqrt(2 * log) + math.sqrt(32 * log) / self.epsilon
        bound = self.totals_ / self.pulls_ + width / np.sqrt(self.pulls_)
        return np.where(self.pulls_ <= 4 * math.log(self.rounds_ + 2), 1e300 / self.pulls_, bound)


class TreeUCB(Agent):
    """Pull the arm with the largest mean + sqrt(2 ln t / N) + margin / N, from a curator of `RunningSums`.

    A running sum has the noise of at most m = L nodes, L being the number of levels, of scale b = L / epsilon each. It
    exceeds b sqrt(32 ln t max(m, 4 ln t)) with probability at most t^-4 on either side: Chan, Shi and Song 2011,
    Corollary 2.9. Mishra and Thakurta 2015; Tossou and Dimitrakakis 2016.

    Parameters
    ----------
    rounds : int
        Public. How many rounds are played at most: as many as the curator has.
    epsilon : float
        Public. That of the curator, `RunningSums`.

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
