"""Estimated shares made consistent: none negative, and together 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps

if TYPE_CHECKING:
    from discreet.local.oracle import Oracle

METHODS = ("norm_sub", "norm_mul", "ibu")
ROUNDS = 1000
STILL = 1e-7  # change of the shares, all together, at which updates end


def norm_sub(shares: Array) -> Array:
    """The nearest shares of a whole, in the Euclidean distance: a constant is subtracted, and what is negative is 0.

    Norm-Sub of Wang et al. 2020 (consistency), which is the projection onto the probability simplex; the constant is
    found by sorting.

    Examples
    --------
    >>> norm_sub(np.array([0.8, 0.5, -0.4, 0.1]))
    array([0.65, 0.35, 0.  , 0.  ])
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    return np.maximum(shares - excess[np.flatnonzero(falling > excess)[-1]], 0.0)


def norm_mul(shares: Array) -> Array:
    """Shares with negative ones set to 0 and the others scaled; equal ones where none is positive.

    Examples
    --------
    >>> norm_mul(np.array([0.75, 0.5, -0.4]))
    array([0.6, 0.4, 0. ])
    """
    positive = np.maximum(shares, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(len(shares), 1 / len(shares))


def bayesian_update(oracle: Oracle, tally: Steps) -> Array:
    """The shares that make the reports most likely, by iterative Bayesian updates from equal shares.

    Each update is a step of expectation maximisation: the shares of all values among the people, given the reports and
    the shares before. Agrawal and Aggarwal 2001; ElSalamouny and Palamidessi 2020.

    Raises
    ------
    ParameterError
        The tally of this oracle does not determine the likelihood.
    """
    from discreet.local.oracles.code_oracle import CodeOracle

    if not isinstance(oracle, CodeOracle):
        raise ParameterError(
            "iterative Bayesian updates",
            f"the tally of {type(oracle).__name__} does not determine the likelihood of its reports",
            "Use norm_sub, or GeneralizedRandomizedResponse, HadamardResponse or ProjectiveGeometry.",
            "The estimates are as they were.",
        )
    seen, shares = tally / tally.sum(), np.full(oracle.size, 1 / oracle.size)
    for _ in range(ROUNDS):
        weights = seen / (oracle.low + (oracle.high - oracle.low) * oracle.scattered(shares))
        updated = shares * (oracle.low * weights.sum() + (oracle.high - oracle.low) * oracle.gathered(weights))
        updated = norm_mul(updated)
        if np.abs(updated - shares).sum() < STILL:
            return updated
        shares = updated
    return shares
