"""Upper confidence bounds for responses with Laplace noise."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent


class LaplaceUCB(Agent):
    """Pull the arm with the largest mean + sqrt(2 ln t / N) + sqrt(32 ln t / N) / epsilon: LDP-UCB-L.

    The second term bounds the sum of N Laplace variables with probability 1 - 2 t^-4, but only where N > 4 ln t: the
    moment-generating function of Laplace noise exists near 0 only. So an arm with N <= 4 ln(t + 1) is pulled first, the
    least pulled of these before all others. Ren, Zhou, Liu and Shroff 2020, Algorithm LDP-UCB-L; the regret grows as
    8 (1 + 4 / epsilon)^2 ln T times the sum of 1 / gap.

    Parameters
    ----------
    arms, runs : int
        As for `Agent`.
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
