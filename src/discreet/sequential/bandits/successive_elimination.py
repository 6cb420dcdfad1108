"""Successive elimination from sums of episodes."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Arms
from discreet.sequential.bandits.episode_agent import EpisodeAgent

FOREVER = 2**62


class SuccessiveElimination(EpisodeAgent):
    """Pull all arms that are left equally often, leave out those that are clearly worse, and do so again, DP-SE.

    In epoch e gaps down to 2^-e are found: each of k arms is pulled max(32 A / 4^-e, 8 B / (epsilon 2^-e)) + 1 times,
    A = ln(8 k e^2 / beta) and B = ln(4 k e^2 / beta), and is left out if its noisy mean is below the best by more than
    twice sqrt(A / (2 n)) + B / (epsilon n). With probability 1 - beta the best arm stays, and the regret is of the
    order sum(ln T / gap) + K ln T / epsilon, the least possible. Its constants are large: epochs are long. Sajed and
    Sheffet 2019, Algorithm 2.

    Parameters
    ----------
    arms, runs : int
        As for `Agent`.
    epsilon : float
        Public. That of the curator, `EpisodeSums`.
    beta : float
        Public. The probability of a mistake; the inverse of the number of rounds is usual.

    Attributes
    ----------
    left_ : array of bool, shape (runs, arms)
        Which arms are left.

    Examples
    --------
    >>> SuccessiveElimination(arms=3, epsilon=1.0).predict()
    0
    """

    purpose: ClassVar[str] = "successive elimination"

    def __init__(self, arms: int, *, epsilon: float = 1.0, beta: float = 1e-4, runs: int | None = None) -> None:
        super().__init__(arms, epsilon=epsilon, runs=runs)
        check_positive(self.purpose, "beta", beta, most=0.5)
        self.beta = float(beta)
        self.left_: NDArray[np.bool_] = np.ones((len(self._run), self.arms), np.bool_)
        self._epoch = np.zeros(len(self._run), np.int64)
        self._arm[:] = self.arms  # the first epoch starts

    def start(self, runs: Arms) -> None:
        """The next arm of the epoch, or the first of the next epoch."""
        for run in runs.tolist():
            later = np.flatnonzero(self.left_[run, self._arm[run] + 1 :])
            if later.size:
                self._arm[run] += 1 + later[0]
                continue
            if self._epoch[run]:
                self._eliminate(run)
            self._epoch[run] += 1
            self._arm[run] = self.left_[run].argmax()
            self._length[run] = self._pulls(run) if self.left_[run].sum() > 1 else FOREVER

    def index(self) -> Array:
        """The mean of the last episode of each arm that is left."""
        return np.where(self.left_, self.means_, -np.inf)

    def _logs(self, run: int) -> tuple[float, float]:
        """A and B of the docstring."""
        once = 4 * int(self.left_[run].sum()) * int(self._epoch[run]) ** 2 / self.beta
        return math.log(2 * once), math.log(once)

    def _pulls(self, run: int) -> int:
        sampling, noise = self._logs(run)
        gap = 2.0 ** -int(self._epoch[run])
        return int(max(32 * sampling / gap**2, 8 * noise / (self.epsilon * gap))) + 1

    def _eliminate(self, run: int) -> None:
        sampling, noise = self._logs(run)
        pulls = int(self._length[run])
        width = math.sqrt(sampling / (2 * pulls)) + noise / (self.epsilon * pulls)
        means = self.index()[run]
        self.left_[run] &= means >= means.max() - 2 * width
