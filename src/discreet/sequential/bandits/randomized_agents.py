"""Agents that draw the arm to pull: by exponential weights, or from a posterior."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from discreet.core.checks import check_seed
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent, Arms


class Exp3(Agent):
    """Pull arms with probabilities in proportion to exp(-eta_t estimated loss), where eta_t = sqrt(ln K / (t K)).

    The loss of a round, 1 - response, is divided by the probability of the pull, so that its estimate is unbiased. The
    regret against the best fixed arm is at most 2 sqrt(T K ln K), whatever the responses in [0, 1] are. Auer,
    Cesa-Bianchi, Freund and Schapire 2002; with these rates Bubeck and Cesa-Bianchi 2012, Theorem 3.1. With the bits of
    a `BernoulliCurator` that bound is on the mapped losses, so it is divided by tanh(epsilon / 2) for rewards.

    Parameters
    ----------
    random_state : int or None
        Public. Seeds the choice of arms.

    Examples
    --------
    >>> Exp3(arms=3, random_state=0).predict() in (0, 1, 2)
    True
    """

    purpose: ClassVar[str] = "Exp3"

    def __init__(self, arms: int, *, random_state: int | None = None, runs: int | None = None) -> None:
        super().__init__(arms, runs=runs)
        check_seed(self.purpose, random_state)
        self._rng = np.random.default_rng(random_state)
        self._losses: Array = np.zeros_like(self.pulls_)

    def choose(self) -> Arms:
        """An arm at random."""
        last = np.cumsum(self.index(), axis=1)
        drawn = self._rng.random((len(self._run), 1)) * last[:, -1:]
        return np.minimum((last <= drawn).sum(axis=1), self.arms - 1)

    def index(self) -> Array:
        """The probability of each arm."""
        rate = math.sqrt(math.log(max(self.arms, 2)) / ((self.rounds_ + 1) * self.arms))
        weights = np.exp(-rate * (self._losses - self._losses.min(axis=1, keepdims=True)))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def learn(self, arms: Arms, responses: Array) -> None:
        self._losses[self._run, arms] += (1 - responses) / self.index()[self._run, arms]
        super().learn(arms, responses)


class ThompsonSampling(Agent):
    """Draw a mean for each arm from its posterior, Beta(1 + total, 1 + N - total), and pull the largest.

    Agrawal and Goyal 2012. The posterior is exact for bits, such as those of a `BernoulliCurator`, and is also used for
    responses between 0 and 1. What is drawn decides on pulls only, and is no noise on anything.

    Parameters
    ----------
    random_state : int or None
        Public. Seeds the draws from posteriors.

    Examples
    --------
    >>> ThompsonSampling(arms=3, random_state=0).predict() in (0, 1, 2)
    True
    """

    purpose: ClassVar[str] = "Thompson sampling"

    def __init__(self, arms: int, *, random_state: int | None = None, runs: int | None = None) -> None:
        super().__init__(arms, runs=runs)
        check_seed(self.purpose, random_state)
        self._rng = np.random.default_rng(random_state)

    def choose(self) -> Arms:
        """The arm of the largest draw; no arm has to be pulled first."""
        return self.index().argmax(axis=1)

    def index(self) -> Array:
        """A draw from each posterior."""
        return self._rng.beta(self.totals_ + 1, self.pulls_ - self.totals_ + 1)
