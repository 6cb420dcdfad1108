"""An event that two neighboring data sets make unequally likely, and how often it was seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from discreet.core.grid import Array

SLACK = 1e-12  # far above the error of scipy's inverse of the incomplete beta function; always on the safe side


def at_least(hits: ArrayLike, trials: ArrayLike, risk: float) -> Array:
    """A value that is above the true proportion with probability at most `risk`.

    The lower bound of Clopper and Pearson 1934: the p at which `hits` or more have probability `risk`.

    Examples
    --------
    >>> at_least([0, 5, 10], 10, 0.05).round(4)
    array([0.    , 0.2224, 0.7411])
    """
    hits, trials = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    found = special.betaincinv(np.maximum(hits, 1.0), trials - hits + 1.0, risk)
    return np.where(hits > 0, found * (1 - SLACK), 0.0)


def at_most(hits: ArrayLike, trials: ArrayLike, risk: float) -> Array:
    """A value that is below the true proportion with probability at most `risk`.

    Examples
    --------
    >>> at_most([0, 5, 10], 10, 0.05).round(4)
    array([0.2589, 0.7776, 1.    ])
    """
    hits, trials = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(trials, dtype=float))
    found = special.betainccinv(hits + 1.0, np.maximum(trials - hits, 1.0), risk)
    return np.where(hits < trials, np.minimum(found * (1 + SLACK), 1.0), 1.0)


@dataclass(frozen=True)
class Count:
    """How many outputs there were, and how many of them were in an event."""

    hits: int
    trials: int

    def __str__(self) -> str:
        return f"{self.hits} of {self.trials}"


@dataclass(frozen=True)
class Witness:
    """What shows that a mechanism distinguishes two data sets.

    Parameters
    ----------
    event : str
        The event, in words. It was fixed before the outputs below were looked at.
    likelier : {"first", "second"}
        The data set on which the event is likelier.
    often : Count
        The event's hits on that data set.
    seldom : Count
        Its hits on the other one.
    risk : float
        The probability that `least` is above the true probability, and that `most` is below its own.

    Examples
    --------
    >>> heads = Witness("output > 0", "first", Count(900, 1000), Count(100, 1000), risk=1e-4)
    >>> print(f"{heads.least:.3f} {heads.most:.3f} {heads.epsilon(delta=0.0):.3f} {heads.mu:.3f}")
    0.860 0.140 1.818 2.164
    """

    event: str
    likelier: Literal["first", "second"]
    often: Count
    seldom: Count
    risk: float

    @property
    def least(self) -> float:
        """The event's probability on the data set where it is likelier is at least this."""
        return float(at_least(self.often.hits, self.often.trials, self.risk))

    @property
    def most(self) -> float:
        """The event's probability on the other data set is at most this."""
        return float(at_most(self.seldom.hits, self.seldom.trials, self.risk))

    def epsilon(self, delta: float) -> float:
        """The least epsilon for which P(event) <= exp(epsilon) Q(event) + delta can be true."""
        return max(0.0, math.log((self.least - delta) / self.most)) if self.least > delta else 0.0

    @property
    def mu(self) -> float:
        """The least mu for which P(event) <= Phi(Phi^-1(Q(event)) + mu) can be true."""
        return max(0.0, float(special.ndtri(self.least) - special.ndtri(self.most)))

    def __str__(self) -> str:
        other = "second" if self.likelier == "first" else "first"
        return (
            f"Event: {self.event}. Seen in {self.often} outputs on the {self.likelier} data set"
            f" and in {self.seldom} on the {other}."
        )
