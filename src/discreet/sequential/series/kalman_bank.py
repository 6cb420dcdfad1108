"""Kalman filters of noisy random walks, side by side: one for each supposed variance of their steps."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.core.held import Held, exclusive

RATIOS = tuple(4.0**power for power in range(-8, 4))
"""Variances of a step, in units of that of the noise, where nothing is said of it."""


class KalmanBank(Held):
    """Estimate several series from noisy numbers of some of their times. Post-processing.

    A series is supposed to be a random walk, x[t] = x[t - 1] + a step of variance q, and a number to be x[t] plus noise
    of a known variance. For each q in a list a Kalman filter (1960) estimates x[t]; where it supposed wrong, what it
    expects next is seldom right, and it counts less in the mean of all (Magill 1965).

    Parameters
    ----------
    series : int
        Public. How many.
    noise : float
        Public. The variance of the noise.
    steps : array of shape (filters,)
        Public. The variances q.
    laplace : bool
        Public. Whether errors are judged as Laplace variables, of which some are far out; else as normal ones.

    Examples
    --------
    >>> bank = KalmanBank(1, 1.0, np.array([0.0]), laplace=False)
    >>> for number in (3.0, 5.0, 4.0):
    ...     bank.step()
    ...     bank.correct(np.array([number]), np.array([True]))
    >>> bank.means.round(6), bank.variances.round(6)
    (array([4.]), array([0.333333]))
    """

    def __init__(self, series: int, noise: float, steps: Array, *, laplace: bool) -> None:
        self.noise, self.steps, self.laplace = noise, steps, laplace
        shape = (len(steps), series)
        self.estimates: Array = np.zeros(shape)
        self.errors: Array = np.full(shape, math.inf)
        self.merits: Array = np.zeros(shape)

    @property
    def weights(self) -> Array:
        """How much each filter counts in each series."""
        found = np.exp(self.merits - self.merits.max(axis=0))
        return np.asarray(found / found.sum(axis=0))

    @property
    def means(self) -> Array:
        """The estimate of each series."""
        return np.asarray((self.weights * self.estimates).sum(axis=0))

    @property
    def variances(self) -> Array:
        """Of its error, if the series is what it is supposed to be; infinite before the first number."""
        if not np.isfinite(self.errors).all():
            return np.where(np.isfinite(self.errors).all(axis=0), self.noise, math.inf)
        return np.asarray((self.weights * (self.errors + np.square(self.estimates - self.means))).sum(axis=0))

    @exclusive
    def step(self) -> None:
        """One time later, nothing is known but that all may have moved."""
        self.errors += self.steps[:, None]

    @exclusive
    def correct(self, numbers: Array, seen: NDArray[np.bool_]) -> None:
        """Take noisy numbers of the series that were seen; those of others are not looked at."""
        first = seen & np.isinf(self.errors[0])
        later = seen & ~first
        self.estimates[:, first], self.errors[:, first] = numbers[first], self.noise
        expected, spread = self.estimates[:, later], self.errors[:, later] + self.noise
        surprises = numbers[later] - expected
        gains = self.errors[:, later] / spread
        deviations = np.sqrt(spread)
        if self.laplace:
            self.merits[:, later] -= np.log(deviations) + math.sqrt(2) * np.abs(surprises) / deviations
        else:
            self.merits[:, later] -= np.log(deviations) + 0.5 * np.square(surprises / deviations)
        self.estimates[:, later] = expected + gains * surprises
        self.errors[:, later] *= 1 - gains
