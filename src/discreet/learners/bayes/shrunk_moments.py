"""Means and variances of each class from noisy sums: closer to those of all classes, by the noise in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.learners.bayes.box_law import LEAST, flattest
from discreet.learners.bayes.naive_bayes import partial_shrinkage, shrinkage


@dataclass(frozen=True)
class NoisyMoments:
    """Means of values from -1 to 1 and of their squares, class by class, with noise.

    Parameters
    ----------
    n : array of shape (n_classes, 1)
        Released. The number of records of each class.
    first, second : arrays of shape (n_classes, n_features)
        Released. The means of values, and of their squares.
    stddev, square_stddev : float
        Public. Of the noise on the sums that these means are made from.
    """

    n: Array
    first: Array
    second: Array
    stddev: float
    square_stddev: float

    def shrunk(self) -> ShrunkMoments:
        """Means and variances that the noise leaves.

        Differences of means are taken to be alike in units of the feature's deviation, and variances in units of the
        most that the mean allows, 1 - mean^2: so a rare mark, whose variance is small, has small differences too, and
        a feature of two values has them in all classes. The noise that is left in a mean is added to its variance. No
        noise makes a law with a hump at both ends of one that has none for all classes together.
        """
        total, own = self.n.sum(), len(self.n) / self.n.sum() ** 2
        noise = np.square(self.stddev / self.n) * np.ones_like(self.first)
        edge = min(max(LEAST, self.stddev * own**0.5), 0.9)
        middle = (self.n * self.first).sum(axis=0) / total / (1 + 3 * self.stddev**2 * own)  # uniform ones vary by 1/3
        middle = np.clip(middle, edge - 1, 1 - edge)
        room = 1 - middle**2
        least = np.maximum(LEAST, np.minimum(2 * self.square_stddev * own**0.5, room))
        whole = np.clip((self.n * self.second).sum(axis=0) / total - middle**2, least, room)
        apart = self.first - middle
        kept = _by(partial_shrinkage, apart / np.sqrt(whole), noise / whole)
        mean, left = np.clip(middle + kept * apart, LEAST - 1, 1 - LEAST), kept * noise
        variance = self._shares(mean, left, flattest(middle) / room) * (1 - mean**2)
        return ShrunkMoments(mean, np.maximum(variance, np.minimum(variance + left, flattest(mean))))

    def _shares(self, mean: Array, left: Array, flat: Array) -> Array:
        """Variances within classes, as shares of the most that their means allow.

        Those of all classes together are brought closer to their mean over all features first. All are held above twice
        the noise that is left in them: a variance that noise made too small would let its feature decide alone.
        """
        room = 1 - mean**2
        noise = np.square(self.square_stddev / self.n) + 4 * mean**2 * left
        weight = (self.n * room).sum(axis=0)
        common = (self.n * (self.second - mean**2)).sum(axis=0) / weight
        own = (self.n**2 * noise).sum(axis=0) / weight**2
        apart = common - common.mean()
        least = np.minimum(np.maximum(LEAST, 2 * np.sqrt(own)), flat)
        common = np.clip(common.mean() + shrinkage(apart, own) * apart, least, 1.0)
        share = (self.second - mean**2) / room
        kept = _by(shrinkage, share / common - 1, noise / np.square(room * common))
        least = np.maximum(LEAST, np.minimum(2 * np.sqrt(kept * noise) / room, common))
        share = np.clip(common + kept * (share - common), least, 1.0)
        return np.where(common > flat, share, np.minimum(share, flattest(mean) / room))


@dataclass(frozen=True)
class ShrunkMoments:
    """The mean and the variance of each feature in each class."""

    mean: Array
    variance: Array


def _by(shrinkage: Callable[[Array, Array], Array], apart: Array, noise: Array) -> Array:
    """The shares that are kept of deviations in several rows."""
    return shrinkage(apart.ravel(), noise.ravel()).reshape(apart.shape)
