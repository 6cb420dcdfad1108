"""Means and variances of each class from noisy sums: closer to those of all classes, by the noise in them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.learners.bayes.naive_bayes import partial_shrinkage, shrinkage

VALUES = np.linspace(-1.0, 1.0, 33)  # on which laws are compared: values closer than a step are taken for alike
POWERS = VALUES ** np.arange(5)[:, None]
LEAST = 2e-3  # variance, and distance of a mean from the ends: a mean between two values needs half of it
NARROW, AWAY = (
    1 / 12,
    5.0,
)  # a deviation, and how many of them from both ends a mean is, where a law is taken for normal
TINY = 1e-8  # variance of a normal law
SURE = 5.0  # deviations of noise on a variance, below which none is trusted, unless it is as great as LEAST
ROUNDS, HALVINGS, CLOSE = 100, 40, 1e-7


def flattest(mean: Array) -> Array:
    """The variance of the law exp(a z) on [-1, 1] with this mean, nearly: any greater one has a hump at both ends.

    From Cohen 1991, who gives a = mean (3 - mean^2) / (1 - mean^2), and the variance, which is dmean / da.

    Examples
    --------
    >>> flattest(np.array([0.0, 0.9])).round(4)
    array([0.3333, 0.0099])
    """
    return np.square(1 - mean**2) / (3 + mean**4)


@dataclass(frozen=True)
class BoxLaw:
    """Laws P(z) = exp(slope z + curve z^2 - log_total) on values from -1 to 1.

    The law of the greatest entropy with a mean and a variance is of this form (Jaynes 1957). It is the normal law where
    both ends are many deviations away, a geometric one at an end, and that of two values where the variance is all
    that the mean allows.

    Parameters
    ----------
    slope, curve, log_total : array
        Of each law.

    Examples
    --------
    >>> law = BoxLaw.of(np.array([0.0, -0.6]), np.array([0.04, 0.64]))
    >>> z = np.array([0.2, 1.0])
    >>> (law.log_density(z) - law.log_density(-z)).round(2)
    array([ 0.  , -1.39])
    """

    slope: Array
    curve: Array
    log_total: Array

    @classmethod
    def of(cls, mean: Array, variance: Array) -> BoxLaw:
        """With these means and variances, as far as laws on [-1, 1] have them.

        Where a law is narrow and far from both ends, the normal one, however narrow: `VALUES` would not tell it. Else
        Newton's method on the convex function log_total - slope E[z] - curve E[z^2], with steps that are halved until
        it falls.
        """
        own = np.sqrt(np.maximum(variance, TINY))
        narrow = (own < NARROW) & (np.abs(mean) + AWAY * own < 1)
        normal, other = (
            cls._normal(mean, own),
            cls._bounded(np.where(narrow, 0.0, mean), np.where(narrow, 0.1, variance)),
        )
        pairs = ((normal.slope, other.slope), (normal.curve, other.curve), (normal.log_total, other.log_total))
        return cls(*(np.where(narrow, *pair) for pair in pairs))

    @classmethod
    def _normal(cls, mean: Array, own: Array) -> BoxLaw:
        """Normal laws, on values as far apart as `VALUES`."""
        total = np.square(mean / own) / 2 + np.log(own * math.sqrt(2 * math.pi) / (VALUES[1] - VALUES[0]))
        return cls(mean / own**2, -1 / (2 * own**2), total)

    @classmethod
    def _bounded(cls, mean: Array, variance: Array) -> BoxLaw:
        mean = np.clip(mean, LEAST - 1, 1 - LEAST)
        most = (1 - 1e-4) * (1 - mean**2)
        variance = np.clip(variance, np.minimum(LEAST, most), most)
        wide = variance > flattest(mean) / 2
        start = np.where(wide, 0.0, 1 / variance)
        goal, at = np.stack([mean, mean**2 + variance]), np.stack([mean * start, -start / 2])
        for _ in range(ROUNDS):
            moments = _moments(at)
            apart = moments[1:3] - goal
            if np.abs(apart).max(initial=0.0) < CLOSE:
                break
            at = _nearer(at, goal, _newton(moments, apart), apart)
        return cls(at[0], at[1], _log_total(at))

    def log_density(self, z: Array) -> Array:
        """The logarithm of P(z), law by law."""
        return np.asarray(self.slope * z + self.curve * z**2 - self.log_total)


def law_of(mean: Array, variance: Array) -> BoxLaw:
    """The law with released means and variances; found once for a model that predicts again and again."""
    return _law_of(mean.tobytes(), variance.tobytes(), mean.shape)


@functools.lru_cache(16)
def _law_of(mean: bytes, variance: bytes, shape: tuple[int, ...]) -> BoxLaw:
    law = BoxLaw.of(*(np.frombuffer(one).reshape(shape) for one in (mean, variance)))
    for part in (law.slope, law.curve, law.log_total):
        part.setflags(write=False)
    return law


def _exponents(at: Array) -> Array:
    return np.asarray(at[0][..., None] * POWERS[1] + at[1][..., None] * POWERS[2])


def _log_total(at: Array) -> Array:
    exponents = _exponents(at)
    most = exponents.max(axis=-1)
    return np.asarray(most + np.log(np.exp(exponents - most[..., None]).sum(axis=-1)))


def _moments(at: Array) -> Array:
    """E[z^k], for k from 0 to 4."""
    weights = np.exp(_exponents(at) - _log_total(at)[..., None])
    return np.moveaxis(weights @ POWERS.T, -1, 0)


def _newton(moments: Array, apart: Array) -> Array:
    """The step that would bring both moments to their goals, if they were linear."""
    _, first, second, third, fourth = moments
    mixed = third - first * second
    own, other = second - first**2 + 1e-9, fourth - second**2 + 1e-9
    determinant = np.maximum(own * other - mixed**2, 1e-18)
    return np.stack([mixed * apart[1] - other * apart[0], mixed * apart[0] - own * apart[1]]) / determinant


def _nearer(at: Array, goal: Array, step: Array, apart: Array) -> Array:
    """The point after so much of the step that the function falls, law by law."""
    before, slope, part = _log_total(at) - (at * goal).sum(axis=0), (apart * step).sum(axis=0), np.ones(step.shape[1:])
    for _ in range(HALVINGS):
        there = at + part * step
        short = _log_total(there) - (there * goal).sum(axis=0) > before + 1e-4 * part * slope + 1e-12
        if not short.any():
            break
        part = np.where(short, part / 2, part)
    return np.asarray(at + part * step)


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

    @property
    def _least(self) -> float:
        """The least variance that noise leaves any trust in."""
        return min(LEAST, max(TINY, SURE * self.square_stddev * len(self.n) ** 0.5 / float(self.n.sum())))

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
        least = np.maximum(self._least, np.minimum(2 * self.square_stddev * own**0.5, room))
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
        least = np.minimum(np.maximum(self._least, 2 * np.sqrt(own)), flat)
        common = np.clip(common.mean() + shrinkage(apart, own) * apart, least, 1.0)
        share = (self.second - mean**2) / room
        kept = _by(shrinkage, share / common - 1, noise / np.square(room * common))
        least = np.maximum(self._least, np.minimum(2 * np.sqrt(kept * noise) / room, common))
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
