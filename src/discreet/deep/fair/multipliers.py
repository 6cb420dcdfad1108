"""Lagrange multipliers of a constraint, one for each group in each stratum: all of it follows from releases."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.core.grid import Array


@dataclass
class Multipliers:
    """Two inequalities for each group: its mean is at most `tolerance` above that of all, and at most as much below.

    Projected gradient ascent: each multiplier moves with what its inequality is violated by, and is never negative.

    Parameters
    ----------
    shares : array of shape (strata, groups)
        Released. The share of each cell in all records, at least a public number.
    rate : float
        Public. How fast multipliers move.
    tolerance : float
        Public. What is allowed.
    most : float
        Public. The greatest multiplier.

    Examples
    --------
    >>> found = Multipliers(np.array([[0.5, 0.5]]), rate=1.0, tolerance=0.0, most=10.0)
    >>> found.move(np.array([[0.1, -0.1]]))
    >>> found.signed
    array([[ 0.1, -0.1]])
    """

    shares: Array
    rate: float
    tolerance: float
    most: float
    above: Array = field(init=False)
    below: Array = field(init=False)

    def __post_init__(self) -> None:
        self.above, self.below = np.zeros_like(self.shares), np.zeros_like(self.shares)

    def move(self, excess: Array) -> None:
        """Follow how far the mean of each group is above that of all."""
        self.above = np.clip(self.above + self.rate * (excess - self.tolerance), 0.0, self.most)
        self.below = np.clip(self.below - self.rate * (excess + self.tolerance), 0.0, self.most)

    @property
    def signed(self) -> Array:
        """What the mean of each group is pushed down by."""
        return self.above - self.below


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
    >>> found = Multipliers(np.array([[0.5, 0.5]]), rate=1.0, tolerance=0.0, most=10.0)
    >>> found.move(np.array([[0.1, -0.1]]))
    >>> weights(found)
    array([[ 0.2, -0.2]])
    """
    signed, shares = multipliers.signed, multipliers.shares
    whole = signed.sum(axis=1, keepdims=True) / shares.sum(axis=1, keepdims=True)
    return signed / shares - whole


def floored_shares(counts: Array, size: float, least: float) -> Array:
    """Noisy counts as shares of all records, none below a public share of its stratum."""
    strata = np.maximum(counts.sum(axis=1, keepdims=True), least * size)
    return np.maximum(counts, least * strata) / size
