"""Mean and variance of a stream, after every record."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.online_statistics.online_statistic import (
    DiameterBound,
    OnlineEstimate,
    OnlineStatistic,
    on_a_grid,
)

COUNT, SQUARE = 0.5, 0.75  # weights of the count and of the square beside the value
APART = 2.0  # two vectors of a value and its square, at most


@dataclass(frozen=True)
class MomentsRelease:
    """Mean and variance of all records so far.

    Parameters
    ----------
    time : int
        How many updates were made.
    count : float
        How many records there are: the number of updates under replace, else noisy.
    mean, variance : OnlineEstimate
        Of these records; the variance is the mean squared distance to the mean.
    """

    time: int
    count: float
    mean: OnlineEstimate
    variance: OnlineEstimate


@dataclass(frozen=True, eq=False)
class OnlineMoments(OnlineStatistic[MomentsRelease]):
    """Release mean and variance of all records so far, after every update.

    The sums of values, of their squares and, where records may be missing, their count are one vector, with noise once
    for all of them, by the square root of the matrix of running sums.

    Guarantee
    ---------
    `noise.event` for all releases together: that of `SquareRootCounter` or `DoublingCounter`. With z the value, scaled
    to [-1, 1], the vector is (z, 3/4 (2 z^2 - 1)) under replace. Two are at most 2 apart: with s = |z - z'| and
    p = |z + z'| <= 2 - s the squared distance is s^2 (1 + 9/4 p^2), which is below 3.6 for s up to 1.8 and rises from
    there to 4. So the square costs nothing. Otherwise there is a third number, 1/2, and the length is at most
    sqrt(29) / 4.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Gaussian
    >>> online = OnlineMoments((0.0, 100.0), Gaussian(0.01), horizon=1000).open(Budget(1e4, 1e-6))
    >>> for age in (40.0, 60.0) * 50:
    ...     release = online.update(age)
    >>> round(release.mean.value), round(release.variance.value, -1)
    (50, 100.0)
    """

    purpose: ClassVar[str] = "online moments"

    bounds: tuple[float, float]
    noise: Additive
    horizon: int | None = None
    _: KW_ONLY
    neighbors: Neighbors = Neighbors.REPLACE
    contributions: int = 1
    confidence: float = 0.95

    @property
    def size(self) -> int:
        """The sums of values and squares, and the count where it is hidden."""
        return 3 if self.counted else 2

    @cached_property
    def vector_bound(self) -> DiameterBound:
        """The length of a vector, and how far two are apart."""
        length = math.sqrt(1 + SQUARE**2 + (COUNT**2 if self.counted else 0.0)) * (1 + 2.0**-30)
        apart = on_a_grid(APART, self.size, self.noise.multiplier, self.contributions)
        return DiameterBound("l2", length, apart=apart)

    def added(self, value: float | None) -> Array:
        """A value, its square, and a count where it is hidden."""
        unit = self.unit(value)
        missing, unit = math.isnan(unit), 0.0 if math.isnan(unit) else unit
        if not self.counted:
            return np.array([unit, SQUARE * (2 * unit**2 - 1)])
        return np.array([unit, SQUARE * (2 * unit**2 - 1), COUNT]) * (not missing)

    def released(self, sums: Array, time: int) -> MomentsRelease:
        """What noisy sums show, after so many updates: post-processing."""
        count = float(sums[2]) / COUNT if self.counted else float(time)
        own = (float(sums[0]), float(sums[1]) / SQUARE, count, self.counter.stddev(time))
        return MomentsRelease(time, count, self._mean(*own), self._variance(*own))

    def _mean(self, total: float, squares: float, count: float, stddev: float) -> OnlineEstimate:
        """By Fieller 1954: all m for which the noise on total - m count would not be surprising."""
        reach = float(ndtri(0.5 + self.confidence / 2)) * stddev
        wide = reach / COUNT if self.counted else 0.0
        square = count**2 - wide**2
        if count <= wide:
            return self._scaled(0.0 if count <= 0 else total / count, -1.0, 1.0)
        root = math.sqrt(max((total * count) ** 2 - square * (total**2 - reach**2), 0.0))
        return self._scaled(total / count, (total * count - root) / square, (total * count + root) / square)

    def _scaled(self, value: float, low: float, high: float) -> OnlineEstimate:
        """From [-1, 1] to the bounds."""
        middle, half = (self.column.upper + self.column.lower) / 2, (self.column.upper - self.column.lower) / 2
        ends = (middle + half * min(max(each, -1.0), 1.0) for each in (value, low, high))
        return OnlineEstimate(*ends)

    def _variance(self, total: float, squares: float, count: float, stddev: float) -> OnlineEstimate:
        """By its derivatives after the three sums, and the square of the error of the mean."""
        quantile = float(ndtri(0.5 + self.confidence / 2))
        top = ((self.column.upper - self.column.lower) / 2) ** 2
        if count <= 2 * quantile * stddev / COUNT * self.counted + 1e-9:
            return OnlineEstimate(top / 2, 0.0, top)
        mean, second = total / count, squares / count  # the mean of z, and that of 2 z^2 - 1
        slopes = [2 * mean, 0.5 / SQUARE, (second / 2 - 2 * mean**2) / COUNT * self.counted]
        noise = stddev / count
        bend = noise**2 * (1 + (mean**2 + abs(second)) / COUNT**2 * self.counted)
        value = (second + 1) / 2 - mean**2 + noise**2
        half = quantile * noise * math.hypot(*slopes) + quantile**2 * bend
        ends = (top * min(max(each, 0.0), 1.0) for each in (value, value - half, value + half))
        return OnlineEstimate(*ends)
