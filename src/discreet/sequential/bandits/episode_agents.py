"""Agents that pull an arm for a whole episode, and hear of it once."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent, Arms
from discreet.sequential.bandits.kl_ucb import upper_bound


class EpisodeAgent(Agent):
    """Pull one arm for several rounds, the episode, whose sum the curator gives out at its end.

    Parameters
    ----------
    epsilon : float
        Public. That of the curator, `EpisodeSums`.

    Attributes
    ----------
    totals_ : array of shape (runs, arms)
        The sum of the last episode of each arm.
    lengths_ : array of shape (runs, arms)
        How many pulls the last episode of each arm had; 0 before the first.
    """

    lowest: ClassVar[float] = -math.inf
    highest: ClassVar[float] = math.inf

    def __init__(self, arms: int, *, epsilon: float = 1.0, runs: int | None = None) -> None:
        super().__init__(arms, runs=runs)
        check_positive(self.purpose, "epsilon", epsilon)
        self.epsilon = float(epsilon)
        self.lengths_: Array = np.zeros_like(self.pulls_)
        self._arm: Arms = np.zeros(len(self._run), np.int64)
        self._length: Arms = np.zeros(len(self._run), np.int64)
        self._left: Arms = np.zeros(len(self._run), np.int64)

    @abstractmethod
    def start(self, runs: Arms) -> None:
        """Choose arm (`_arm`) and length (`_length`) of the next episode, in the runs where none is under way."""

    @property
    def last(self) -> Any:
        """Whether the next response ends the episode."""
        return bool(self._left[0] == 1) if self.runs is None else self._left == 1

    def choose(self) -> Arms:
        """The arm of the episode."""
        runs = np.flatnonzero(self._left == 0)
        if runs.size:
            self.start(runs)
            self._left[runs] = self._length[runs]
        return self._arm.copy()

    def learn(self, arms: Arms, responses: Array) -> None:
        """Take one response for each run: nan, or the sum of the episode that ends."""
        self._left -= 1
        self.pulls_[self._run, arms] += 1
        self.rounds_ += 1
        ended = np.flatnonzero(self._left == 0)
        if ended.size:
            self.totals_[ended, arms[ended]] = responses[ended]
            self.lengths_[ended, arms[ended]] = self._length[ended]

    @property
    def means_(self) -> Array:
        """The mean of the last episode of each arm, of shape (runs, arms); nan before the first."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.totals_ / self.lengths_)

    def _accepts(self, responses: Array) -> bool:
        return bool((np.isnan(responses) != np.broadcast_to(self.last, responses.shape)).all()) and not bool(
            np.isinf(responses).any()
        )


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
        return self._indices(self._run)

    def _indices(self, runs: Arms) -> Array:
        margin = self.alpha * math.log(self.rounds_ + 1) / self.lengths_[runs]
        means = self.totals_[runs] / self.lengths_[runs] + margin / self.epsilon
        return upper_bound(np.clip(means, 0.0, 1.0), margin)


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
