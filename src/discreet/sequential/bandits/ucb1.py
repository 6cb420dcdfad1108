"""Upper confidence bounds by Hoeffding's inequality."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent


class UCB1(Agent):
    """Pull the arm with the largest mean + sqrt(2 ln t / N), for responses in [0, 1].

    Auer, Cesa-Bianchi and Fischer 2002, Theorem 1. With the bits of a `BernoulliCurator` this is LDP-UCB-B of Ren,
    Zhou, Liu and Shroff 2020, whose regret grows as 8 coth(epsilon / 2)^2 ln T times the sum of 1 / gap.

    Parameters
    ----------
    arms, runs : int
        As for `Agent`.

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
