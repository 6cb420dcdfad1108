"""A proportion, bounded from the hits among independent trials."""

from __future__ import annotations

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
