"""A released table of counts, and intervals for counts: of these data, or of the expected ones of a population."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.questions.tables.domain import Domain
from discreet.releases.columns import Columns, Series
from discreet.releases.table import Tabular


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


@dataclass(frozen=True, kw_only=True)
class CountTable(Tabular):
    """Noisy counts of all combinations of the cells of some columns.

    Parameters
    ----------
    domain : Domain
        The columns, one axis each, and their cells; with no column, the number of records.
    counts : array
        Noisy counts, possibly negative; axis i is column i.
    stddev : float
        The standard deviation of the noise on each count.
    half_width : float
        How far the noise moves a count, with the given confidence.
    """

    domain: Domain
    counts: Array
    stddev: float
    half_width: float

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return self.domain.columns

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The names of each column's cells."""
        return self.domain.labels

    def tabulated(self) -> Columns:
        """A row for each cell."""
        places = np.indices(self.domain.shape).reshape(len(self.columns), self.domain.size)
        labels = {
            name: np.array(each)[place] for name, each, place in zip(self.columns, self.labels, places, strict=True)
        }
        series = count_series(self.counts, self.stddev, self.half_width, self.confidence or 0.0, self.population)
        return Columns(labels, (series,))
