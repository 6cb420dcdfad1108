"""Variances in all directions, computed from random projections of records: post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import chi2

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.releases.columns import KEPT, Columns, Series
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.releases.table import Tabular

UNSURE = 2.0  # half-widths of its noise: below, the number of records may be anything


@dataclass(frozen=True, kw_only=True)
class SketchedVariances(Tabular):
    """Released random projections of records. Every variance that is computed from them is post-processing.

    A record is u = (c, z) with a constant c, and a projection is y = sum of g u + sqrt(w) e, where g and e are standard
    normal. Let b be the slope of a regression of the projections' z on their c, without an intercept. The squares of
    its residuals in a direction x add up to a chi-square variable of one degree of freedom less than projections, times

        n var(x) + w |x|^2 + w (1 + w / (n c^2)) (b'x)^2,

    with the expected slopes b: that is how the mean of the records is removed without being released.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    vectors : array of shape (projections, 1 + columns)
        What was released.
    constant, regularization : float
        Public. The c and the w.
    units : array of shape (columns,)
        Public. What z is measured in; the records are within this distance of the middle.
    number : Estimate
        How many records there are.
    bounded : bool
        Public. Whether z is between -1 and 1, so that variances cannot be greater than those of values at the ends.

    Examples
    --------
    >>> from discreet.statistics.moments.variance_sketch import variance_sketch
    >>> found = variance_sketch(np.zeros((500, 2)), ("x", "y"), bounds=(-1, 1), projections=50)
    >>> found.variance([1.0, -1.0]).name, found.covariance().shape
    ('variance of a sum of x, y', (2, 2))
    """

    columns: tuple[str, ...]
    vectors: Array
    constant: float
    regularization: float
    units: Array
    number: Estimate
    bounded: bool = True

    def variance(self, direction: ArrayLike, confidence: float | None = None) -> Estimate:
        """The variance of a weighted sum of the columns, with its interval.

        Parameters
        ----------
        direction : array-like of shape (columns,)
            The weights. They cost nothing, also where they are chosen after looking at other variances; but among many
            the greatest variance is likelier than others to be too great, and its interval says nothing of that.
        confidence : float, optional
            Of the interval; by default as for the columns.
        """
        confidence = self.confidence if confidence is None else confidence
        assert confidence is not None
        check_confidence("variance", confidence)
        found = self._variances(_checked(direction, len(self.units))[:, None], confidence)
        value, error, low, high = (float(each[0]) for each in found.numbers().values())
        return Estimate(
            name=f"variance of a sum of {', '.join(self.columns)}",
            value=value,
            standard_error=error,
            low=low,
            high=high,
            confidence=confidence,
            receipt=self.receipt,
        )

    def covariance(self) -> Array:
        """The covariance of each pair of columns: the nearest matrix that is positive semidefinite.

        Nearest in units of half the bounds; by its eigenvalues, of which negative ones are raised to zero (Higham 1988,
        Theorem 2.1).
        """
        products = self._residuals.T @ self._residuals / self._degrees
        slopes = np.outer(self._slopes, self._slopes) - products / self._length
        matrix = products - self.regularization * np.eye(len(self.units)) - self._leaks * slopes
        values, vectors = np.linalg.eigh(matrix / self._records)
        return (vectors * np.maximum(values, 0.0)) @ vectors.T * np.outer(self.units, self.units)

    def tabulated(self) -> Columns:
        """The variance of each column."""
        assert self.confidence is not None
        return Columns({"column": self.columns}, (self._variances(np.eye(len(self.units)), self.confidence),))

    def _variances(self, directions: Array, confidence: float) -> Series:
        """Those of directions, one in each column."""
        scaled = directions * self.units[:, None]
        size = np.square(scaled).sum(axis=0)
        squares = np.square(self._residuals @ scaled).sum(axis=0) / self._degrees
        slopes, off = np.square(self._slopes @ scaled), squares / self._length
        most = np.square(np.abs(scaled).sum(axis=0)) if self.bounded else np.full(len(size), math.inf)
        found = (squares - self.regularization * size - self._leaks * (slopes - off)) / self._records
        values = np.clip(found, 0.0, most)
        others = np.hypot(
            self._leaks * np.sqrt(4 * np.maximum(slopes, off) * off + 2 * np.square(off)) / self._records,
            values * self._count_error / self._records,
        )
        errors = np.hypot(math.sqrt(2 / self._degrees) * squares / self._records, others)
        if not self._counted:
            return Series("variance", values, np.full(len(size), math.inf), np.zeros(len(size)), most)
        sides = np.array([[(1 - confidence) / 2], [(1 + confidence) / 2]])
        ends = (squares * self._degrees / chi2.isf(sides, self._degrees) - squares) / self._records
        away = np.hypot(ends, float(ndtri(sides[1, 0])) * others)
        low, high = np.clip([found - away[0], found + away[1]], 0.0, most)
        return Series("variance", values, errors, low, high)

    @property
    def _degrees(self) -> int:
        """Of freedom: one is lost to the slope."""
        return len(self.vectors) - 1

    @cached_property
    def _length(self) -> float:
        """The squared length of the constant's projections."""
        return max(float(np.square(self.vectors[:, 0]).sum()), 1e-300)

    @cached_property
    def _slopes(self) -> Array:
        return np.asarray(self.vectors[:, 0] @ self.vectors[:, 1:] / self._length)

    @cached_property
    def _residuals(self) -> Array:
        return self.vectors[:, 1:] - np.outer(self.vectors[:, 0], self._slopes)

    @property
    def _records(self) -> float:
        return max(self.number.value, 1.0)

    @property
    def _count_error(self) -> float:
        return self.number.standard_error or 0.0

    @property
    def _counted(self) -> bool:
        """Whether the number of records is clearly more than noise."""
        return self.number.value > UNSURE * self.number.half_width

    @property
    def _leaks(self) -> float:
        """What of the squared slope is in the squares of the residuals."""
        return self.regularization * (1 + self.regularization / (self._records * self.constant**2))


def _checked(direction: ArrayLike, columns: int) -> Array:
    weights = np.asarray(direction)
    if weights.shape != (columns,) or weights.dtype.kind not in "fiub" or not np.isfinite(weights).all():
        remedy = f"Give {columns} finite numbers, one for each column."
        raise ParameterError("variance", f"the direction is {direction!r}", remedy, KEPT)
    return weights.astype(np.float64)
