"""Gittins' index of Bernoulli arms."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent, Arms

LEVELS = 400  # rewards of the standard arm that are tried


@lru_cache(maxsize=8)
def gittins_table(discount: float, depth: int) -> Array:
    """The index of an arm after s successes and f failures, s + f <= depth, from a uniform prior, by calibration.

    Against a standard arm that always pays l, the arm is worth a pull as long as its index is at least l. For each l of
    a grid the value of the better of both is found backwards, from `depth` + 1 pulls on, where the mean is taken as
    known; between two l's on the grid the index is interpolated. Gittins 1979.

    Parameters
    ----------
    discount : float
        Public. What a reward one round later is worth; below 1.
    depth : int
        Public. Up to how many pulls.

    Returns
    -------
    array of shape (depth + 1, depth + 1)
        Entry [s, f]; nan where s + f > depth.

    Examples
    --------
    >>> gittins_table(0.9, 100)[[0, 1, 0], [0, 0, 1]].round(3)
    array([0.703, 0.8  , 0.5  ])
    """
    levels = np.linspace(0.0, 1.0, LEVELS + 1)[:, None]
    retire = levels / (1 - discount)
    successes = np.arange(depth + 2)
    value = np.maximum((successes + 1) / (depth + 3) / (1 - discount), retire)
    found = np.full((depth + 1, depth + 1), np.nan)
    for pulls in range(depth, -1, -1):
        mean = (np.arange(pulls + 1) + 1) / (pulls + 2)
        go_on = mean * (1 + discount * value[:, 1:]) + (1 - mean) * discount * value[:, :-1]
        found[np.arange(pulls + 1), pulls - np.arange(pulls + 1)] = _crossings(levels[:, 0], go_on - retire)
        value = np.maximum(go_on, retire)
    return found


def _crossings(levels: Array, excess: Array) -> Array:
    """Where each column, which falls from a positive number to one that is not, is zero."""
    after = np.argmax(excess <= 0, axis=0)
    state = np.arange(excess.shape[1])
    above, below = excess[after - 1, state], excess[after, state]
    return np.asarray(levels[after - 1] + (levels[after] - levels[after - 1]) * above / (above - below))


class GittinsIndex(Agent):
    """Pull the arm with the largest Gittins index: the best agent for discounted rewards, if priors are uniform.

    For independent Bernoulli arms with uniform priors it maximises the expected sum of discount^t times the reward.
    Gittins 1979. Beyond `depth` pulls of an arm its index is taken as the posterior mean; the larger the discount, the
    deeper the table should be. Responses are bits.

    Parameters
    ----------
    discount : float
        Public. What a reward one round later is worth.
    depth : int
        Public. Up to how many pulls of an arm its index is tabulated.

    Examples
    --------
    >>> agent = GittinsIndex(arms=2)
    >>> agent.partial_fit(0, 0.0).predict()
    1
    """

    purpose: ClassVar[str] = "Gittins index"

    def __init__(self, arms: int, *, discount: float = 0.99, depth: int = 300, runs: int | None = None) -> None:
        super().__init__(arms, runs=runs)
        check_positive(self.purpose, "discount", discount, most=0.9999)
        check_whole(self.purpose, "depth", depth, most=2000)
        self.discount, self.depth = float(discount), int(depth)
        self._table = gittins_table(self.discount, self.depth)
        self._index: Array = np.full_like(self.pulls_, self._table[0, 0])

    def choose(self) -> Arms:
        """The arm of the largest index; no arm has to be pulled first."""
        return self._index.argmax(axis=1)

    def index(self) -> Array:
        return self._index.copy()

    def learn(self, arms: Arms, responses: Array) -> None:
        super().learn(arms, responses)
        pulls, totals = self.pulls_[self._run, arms], self.totals_[self._run, arms]
        inside = pulls <= self.depth
        successes = np.where(inside, np.rint(totals), 0).astype(np.int64)
        failures = np.where(inside, pulls - successes, 0).astype(np.int64)
        self._index[self._run, arms] = np.where(inside, self._table[successes, failures], (totals + 1) / (pulls + 2))

    def _accepts(self, responses: Array) -> bool:
        return bool(np.isin(responses, (0.0, 1.0)).all())
