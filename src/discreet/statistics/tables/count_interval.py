"""Intervals for counts: of these data, or of the expected counts of a population."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.releases.columns import Series


def count_series(
    counts: Array, stddev: ArrayLike, half_width: ArrayLike, confidence: float, population: bool, name: str = "count"
) -> Series:
    """Noisy counts with their intervals.

    For a population the interval is for the expected counts. Counts vary at most as Poisson variables do, by the square
    root of their expectation m, and the interval is that of a score test (Wilson 1927): all m for which the noisy count
    is within sqrt(h^2 + z^2 m) of m, where h is the half-width of the noise and z that of a standard normal variable. A
    negative count stands for zero.

    Parameters
    ----------
    counts : array
        Noisy counts.
    stddev, half_width : float or array
        The standard deviation of their noise, and how far it moves them with this confidence.
    confidence : float
        Public. Of each interval.
    population : bool
        Public. Whether the intervals are for the expected counts over samples like this one.
    name : str
        Of the column.

    Examples
    --------
    >>> found = count_series(np.array([100.0, -3.0]), 1.0, 2.0, 0.95, population=True)
    >>> found.low.round(1), found.high.round(1)
    (array([82.1,  0. ]), array([121.7,   4.7]))
    """
    values, noise = counts.ravel(), np.broadcast_to(np.asarray(stddev, dtype=np.float64), counts.shape).ravel()
    if not population:
        return Series.around(name, values, np.broadcast_to(half_width, counts.shape).ravel(), noise)
    z, half = float(ndtri(0.5 + confidence / 2)), np.asarray(half_width, dtype=np.float64).ravel()
    inside = np.maximum(values, 0.0)
    root = np.sqrt(half**2 + z * z * inside + z**4 / 4)
    low, high = np.maximum(inside + z * z / 2 - root, 0.0), inside + z * z / 2 + root
    return Series(name, values, np.sqrt(noise**2 + inside), low, high)


def ceiled(half_width: float) -> float:
    """A half-width for whole counts: rounded up to a whole number."""
    return float(math.ceil(half_width))
