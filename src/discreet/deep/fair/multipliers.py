"""Lagrange multipliers of a constraint, one for each group in each stratum: all of it follows from releases."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from discreet.core.grid import Array
from discreet.core.held import unheld

AHEAD = 200.0  # steps
KEPT = 0.9  # of the running mean of violations, in a step


@unheld("releases")
@dataclass
class Multipliers:
    """Two inequalities for each group: its mean is at most `tolerance` above that of all, and at most as much below.

    Projected gradient ascent: each multiplier moves with what its inequality is violated by, and is never negative. A
    network follows its multipliers late, so by themselves they would go on growing until groups have changed places.
    So each is taken where it would be `AHEAD` steps later, if the inequality stayed violated by the running mean of the
    last steps: the proportional term of Stooke, Achiam and Abbeel 2020 (PID Lagrangian methods), which damps.

    Parameters
    ----------
    shares : array of shape (strata, groups)
        Released. The share of each cell in all records, at least a public number.
    rate : float
        Public. How fast multipliers move.
    tolerance : float
        Public. What is allowed.
    most : float or array of shape (strata, groups)
        Public, or released. The greatest multiplier.

    Examples
    --------
    >>> found = Multipliers(np.array([[0.5, 0.5]]), rate=0.01, tolerance=0.0, most=10.0)
    >>> found.move(np.array([[0.1, -0.1]]))
    >>> found.signed
    array([[ 0.201, -0.201]])
    """

    shares: Array
    rate: float
    tolerance: float
    most: float | Array
    above: Array = field(init=False)
    below: Array = field(init=False)

    def __post_init__(self) -> None:
        self.above, self.below, self._sum = (np.zeros_like(self.shares) for _ in range(3))
        self._weight = 0.0

    def move(self, excess: Array) -> None:
        """Follow how far the mean of each group is above that of all."""
        self.above = np.clip(self.above + self.rate * (excess - self.tolerance), 0.0, self.most)
        self.below = np.clip(self.below - self.rate * (excess + self.tolerance), 0.0, self.most)
        self._sum, self._weight = KEPT * self._sum + excess, KEPT * self._weight + 1

    @property
    def signed(self) -> Array:
        """What the mean of each group is pushed down by."""
        mean = self._sum / max(self._weight, 1.0)
        above = np.clip(self.above + self.rate * AHEAD * (mean - self.tolerance), 0.0, self.most)
        below = np.clip(self.below - self.rate * AHEAD * (mean + self.tolerance), 0.0, self.most)
        return above - below


def deviation(rate: float, stddev: Array, steps: int) -> Array:
    """What noise of this deviation in the excess of every step makes of `Multipliers`, unprojected.

    The noise of a step counts once in a multiplier, and AHEAD times in the running mean, by how recent it is.
    """
    ahead = 2 * AHEAD + AHEAD**2 * (1 - KEPT) / (1 + KEPT)
    return rate * math.sqrt(steps + ahead) * stddev


@unheld("releases")
@dataclass
class PublishedMultipliers:
    """One multiplier for |mean of a group - mean of all| = 0, as Fioretto et al. 2021 have it: it only grows.

    Parameters
    ----------
    shares : array of shape (strata, groups)
        Released. The share of each cell in all records.
    rate : float
        Public. How fast multipliers grow.
    most : float
        Public. The greatest multiplier.
    """

    shares: Array
    rate: float
    most: float
    values: Array = field(init=False)
    signs: Array = field(init=False)

    def __post_init__(self) -> None:
        self.values, self.signs = np.zeros_like(self.shares), np.zeros_like(self.shares)

    def move(self, excess: Array) -> None:
        """Grow by how far the mean of each group is from that of all."""
        self.values, self.signs = np.minimum(self.values + self.rate * np.abs(excess), self.most), np.sign(excess)

    @property
    def signed(self) -> Array:
        """What the mean of each group is pushed down by."""
        return self.values * self.signs


def weights(multipliers: Multipliers | PublishedMultipliers) -> Array:
    """What the score of a record is multiplied with, in the mean over all records, by its cell.

    The mean of a group is the sum of its scores over its number, and the mean of all that of the groups by their
    shares: so the sum over cells of m_c (mean_c - mean_all) is the mean over records of (m_c / p_c - sum of m / sum of
    p), where m are multipliers and p shares within the stratum.

    Examples
    --------
    >>> found = Multipliers(np.array([[0.5, 0.5]]), rate=0.01, tolerance=0.0, most=10.0)
    >>> found.move(np.array([[0.1, -0.1]]))
    >>> weights(found)
    array([[ 0.402, -0.402]])
    """
    signed, shares = multipliers.signed, multipliers.shares
    whole = signed.sum(axis=1, keepdims=True) / shares.sum(axis=1, keepdims=True)
    return signed / shares - whole


def floored_shares(counts: Array, size: float, least: float) -> Array:
    """Noisy counts as shares of all records, none below a public share of its stratum."""
    strata = np.maximum(counts.sum(axis=1, keepdims=True), least * size)
    return np.maximum(counts, least * strata) / size
