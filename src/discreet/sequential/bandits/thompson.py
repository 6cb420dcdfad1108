"""Thompson sampling: pull each arm as often as it is likely to be the best."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet.core.checks import check_seed
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent, Arms


class ThompsonSampling(Agent):
    """Draw a mean for each arm from its posterior, Beta(1 + total, 1 + N - total), and pull the largest.

    Agrawal and Goyal 2012. The posterior is exact for bits, such as those of a `BernoulliCurator`, and is also used for
    responses between 0 and 1. What is drawn decides on pulls only, and is no noise on anything.

    Parameters
    ----------
    arms, runs : int
        As for `Agent`.
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
