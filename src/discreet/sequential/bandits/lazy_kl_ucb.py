"""A KL index on sums of episodes that double: central privacy at little cost."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Arms
from discreet.sequential.bandits.episode_agent import EpisodeAgent
from discreet.sequential.bandits.kl_ucb import upper_bound

TIE = 1e-9  # how far indices may differ and be called equal


class LazyKLUCB(EpisodeAgent):
    """Pull the arm with the largest KL index until its pulls have doubled, and judge it by that episode alone.

    The index is the largest q with n kl(m, q) <= alpha ln t, where n is the length of the arm's last episode and m its
    noisy mean plus alpha ln t / (epsilon n), clipped to [0, 1]. The noise, of scale 1 / (epsilon n), is drawn once in
    an episode, so it vanishes beside the margin of the mean once n is large: privacy costs little then. Azize and Basu
    2022, "When Privacy Meets Partial Information", AdaP-KLUCB; their bound on regret needs alpha > 3. By default alpha
    is 1/2: then the index is as wide as that of KL-UCB, whose mean is of all pulls, twice as many as n.

    Parameters
    ----------
    arms, runs : int
        As for `Agent`.
    epsilon : float
        Public. That of the curator, `EpisodeSums`.
    alpha : float
        Public. How much is explored.

    Examples
    --------
    >>> agent = LazyKLUCB(arms=2, epsilon=1.0)
    >>> for response in (0.1, 1.3):
    ...     agent = agent.partial_fit(agent.predict(), response)
    >>> agent.predict()
    1
    """

    purpose: ClassVar[str] = "lazy KL-UCB"

    def __init__(self, arms: int, *, epsilon: float = 1.0, alpha: float = 0.5, runs: int | None = None) -> None:
        super().__init__(arms, epsilon=epsilon, runs=runs)
        check_positive(self.purpose, "alpha", alpha)
        self.alpha = float(alpha)

    def start(self, runs: Arms) -> None:
        """Each arm once, in order, then that of the largest index, as often as it was pulled before.

        Early indices are often 1: of these the arm with the shortest episode is pulled.
        """
        if self.rounds_ < self.arms:
            self._arm[runs], self._length[runs] = self.rounds_, 1
            return
        index, lengths = self._indices(runs), self.lengths_[runs]
        tied = index >= index.max(axis=1, keepdims=True) - TIE
        self._arm[runs] = np.where(tied, lengths, np.inf).argmin(axis=1)
        self._length[runs] = self.pulls_[runs, self._arm[runs]]

    def index(self) -> Array:
        """The index of each arm."""
        return self._indices(self._run)

    def _indices(self, runs: Arms) -> Array:
        margin = self.alpha * math.log(self.rounds_ + 1) / self.lengths_[runs]
        means = self.totals_[runs] / self.lengths_[runs] + margin / self.epsilon
        return upper_bound(np.clip(means, 0.0, 1.0), margin)
