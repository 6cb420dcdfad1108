"""Upper confidence bounds by the divergence of Bernoulli variables."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from discreet.core.grid import Array
from discreet.sequential.bandits.agent import Agent

NEWTON = 6  # steps, each of which stays above the bound and about squares its distance
NEAR = 1e-12


def upper_bound(means: Array, levels: Array) -> Array:
    """The largest q with kl(mean, q) <= level, for Bernoulli variables; never below it, and at most 1e-6 above.

    kl(p, .) is convex above p, so Newton's method from above stays above. It starts at the smaller of two bounds:
    Pinsker's, p + sqrt(level / 2), and the one that follows from q <= 1 in p ln(p / q).

    Parameters
    ----------
    means : array
        In [0, 1].
    levels : array
        At least 0, of the same shape.

    Examples
    --------
    >>> upper_bound(np.array([0.0, 0.5, 1.0]), np.full(3, 0.1)).round(4)
    array([0.0952, 0.7129, 1.    ])
    """
    p = np.clip(means, NEAR, 1 - NEAR)
    entropy = p * np.log(p) + (1 - p) * np.log1p(-p)
    beyond = 1 - np.exp((entropy - levels) / (1 - p))
    q = np.minimum(np.minimum(p + np.sqrt(levels / 2), beyond), 1 - NEAR)
    for _ in range(NEWTON):
        excess = entropy - p * np.log(q) - (1 - p) * np.log1p(-q) - levels
        q = np.maximum(q - np.maximum(excess, 0.0) * q * (1 - q) / np.maximum(q - p, NEAR), p)
    return np.asarray(q)


class KLUCB(Agent):
    """Pull the arm whose mean could be largest: the largest q with N kl(mean, q) <= ln t, for responses in [0, 1].

    Garivier and Cappe 2011, with c = 0, as they advise. With the bits of a `BernoulliCurator` its regret at small
    epsilon grows as 2 / epsilon^2 ln T times the sum of 1 / gap, 16 times less than that of LDP-UCB-B, since the index
    knows the variance of the bits.

    Examples
    --------
    >>> agent = KLUCB(arms=2).partial_fit(0, 1.0).partial_fit(1, 0.0)
    >>> agent.predict()
    0
    """

    purpose: ClassVar[str] = "KL-UCB"

    def index(self) -> Array:
        """The upper confidence bound of each mean."""
        return upper_bound(self.totals_ / self.pulls_, math.log(self.rounds_ + 1) / self.pulls_)
