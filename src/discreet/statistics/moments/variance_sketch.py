"""Variances in all directions at one price: random projections of the records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import chi2

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.knob import check_size, check_whole
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.vectors.johnson_lindenstrauss import JohnsonLindenstrauss
from discreet.questions.coordinate_records import CoordinateRecords, complete_count_of
from discreet.releases.ask import columns_of
from discreet.releases.columns import KEPT, Columns, Series
from discreet.releases.estimate import Estimate
from discreet.releases.joint_plan import Together
from discreet.releases.release import check_confidence, check_population
from discreet.releases.spread import CONFIDENCE, spread
from discreet.releases.table import Tabular
from discreet.trust.as_private import Bounds

LEAST, MOST, MOST_NUMBERS = 3, 2**20, 2**27  # projections, and numbers in all of them
COUNT = 5.0  # the noise on the number of records, in units of what the whole budget would pay for
UNSURE = 2.0  # half-widths of its noise: below, the number of records may be anything
SLOPES = "the sketch has no fourth moments, which the sampling error of a variance depends on"


@dataclass(frozen=True, kw_only=True)
class VarianceSketch(Tabular):
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
    """

    columns: tuple[str, ...]
    vectors: Array
    constant: float
    regularization: float
    units: Array
    number: Estimate
    bounded: bool = True

    def variance(self, direction: ArrayLike, confidence: float | None = None) -> Estimate:
        """The variance of a weighted sum of the columns, with an interval that holds for these weights.

        Parameters
        ----------
        direction : array-like of shape (columns,)
            The weights: chosen freely, also after looking at other variances.
        confidence : float, optional
            Of the interval; by default as for the columns.
        """
        confidence = self.confidence if confidence is None else confidence
        assert confidence is not None
        check_confidence("variance", confidence)
        found = self._variances(_checked(direction, len(self.units))[:, None], confidence)
        value, error, low, high = (float(each[0]) for each in _numbers(found))
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


def _numbers(series: Series) -> tuple[Array, ...]:
    return tuple(series.numbers().values())


def variance_sketch(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    radius: float | None = None,
    projections: int = 1000,
    confidence: float = CONFIDENCE,
    population: bool = False,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
) -> VarianceSketch:
    """Release random projections of the records, from which the variance of any weighted sum of columns is estimated.

    The error of a variance v is about sqrt(2 / projections) (v + w / n), with a regularisation w that grows as the root
    of the number of projections. The second part hardly depends on it, and is about the whole error of `covariance` at
    the same price, which also needs no curator. So `covariance` is the better choice for as many columns as its matrix
    has room for: in random directions its error was 1.1 to 7 times less (`benchmarks/sketches.py`). A sketch is for
    thousands of columns: it has `projections` numbers for each of them, and not one for each pair.

    Parameters
    ----------
    data : PrivateData, array of shape (n, columns), or data frame
        The records, behind a curator. One with a missing value in any of the columns counts for nothing.
    columns, bounds, radius, epsilon, key
        Public. As for `covariance`.
    projections : int
        Public. How many: time and memory grow with it. At least 3.
    confidence : float
        Public. Of each interval.
    population : bool
        Public. An interval for a population is refused: the sketch has no fourth moments.
    delta : float
        Public. Above zero.

    Returns
    -------
    VarianceSketch
        The variance of each column with its interval, `variance` in any direction, `covariance` and the receipt.

    Guarantee
    ---------
    The event on the receipt: one `JohnsonLindenstrauss` release, whose loss is exact (after Blocki, Blum, Datta and
    Sheffet 2012), and one `Gaussian` count, for the data set's own neighbors. Directions are post-processing.

    Examples
    --------
    >>> rows = np.random.default_rng(0).uniform(-1, 1, (20_000, 1)) * [1.0, -1.0]
    >>> found = variance_sketch(rows, bounds=(-1, 1), projections=400, epsilon=5.0)
    >>> difference = found.variance([1.0, -1.0])
    >>> bool(abs(difference.value - 4 / 3) < 6 * difference.standard_error)
    True
    >>> bool(np.linalg.eigvalsh(found.covariance()).min() > -1e-12)
    True
    """
    budget, purpose = Budget(epsilon, delta), "variance sketch"
    check_confidence(purpose, confidence)
    of = columns_of(purpose, data, columns, bounds, budget)
    of.data.check_curated(purpose)
    check_population(purpose, population, SLOPES, "Ask for `covariance`, which has such intervals.")
    check_whole(purpose, "projections", projections, LEAST, MOST)
    check_size(purpose, (1 + len(of.columns)) * int(projections), MOST_NUMBERS)
    if delta == 0:
        raise ParameterError(purpose, "projections are not private without a delta", "Give one, or ask `covariance`.")
    names, neighbors, rows = of.columns, of.data.neighbors, of.data.unit.rows
    records = CoordinateRecords(of.data.schema, names, math.sqrt(len(names)) if radius is None else radius)
    plain = JohnsonLindenstrauss(1.0, int(projections), records.longest, rows, neighbors)
    share = COUNT * calibrate(Gaussian(), budget).multiplier / calibrate(plain, budget).multiplier
    plan = calibrate(Together((plain, Gaussian(share))), budget)
    sketch, noise = plan.mechanisms
    counted, name = complete_count_of(of.data.schema, names), f"{purpose} of {', '.join(names)}"
    with of.data.permit(plan.event, name, key=key) as permit:
        vectors = np.asarray(permit.ask(records, sketch))
        number = float(permit.ask(counted, noise)[0])
    off = spread(of.data, counted, noise)
    return VarianceSketch(
        name=name,
        columns=names,
        vectors=vectors,
        constant=records.coordinates.weight,
        regularization=sketch.regularization,
        units=records.coordinates.half[:, 0],
        number=Estimate.around(
            "number of records",
            number,
            off.half_width([1.0], confidence),
            standard_error=off.stddev,
            confidence=confidence,
            receipt=permit.receipt,
        ),
        confidence=confidence,
        receipt=permit.receipt,
    )
