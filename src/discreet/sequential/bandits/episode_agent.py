"""What agents share that pull an arm for a whole episode, and hear of it once."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent, Arms


class EpisodeAgent(Agent):
    """Pull one arm for several rounds, the episode, whose sum the curator gives out at its end.

    Parameters
    ----------
    arms, runs : int
        As for `Agent`.
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
