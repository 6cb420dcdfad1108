"""Reports of the products of a person's coordinates: of a point of a sphere, or with Gaussian noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event, GaussianLoss
from discreet.core.grid import Array, Steps
from discreet.local.device_receipt import device_receipt
from discreet.local.means.privunit_vector import PrivUnitVector
from discreet.local.means.vector_report import BallReport, ReportReach
from discreet.local.randomizer import Reports, WorstPair
from discreet.local.subspaces.product_moments import ProductMoments
from discreet.noise.gaussian import rounded_gaussian

MOST = 2**10  # coordinates
BLOCK = 2**22  # numbers of reports that are made at a time
FINE = 32  # bits between the squared radius and the steps that products are rounded to
COARSE = 18  # bits of a deviation that are reported
ROUNDING = 2.0**-40  # of float64 in a product, relative to the squared radius


def half_size(size: int) -> int:
    """How many numbers a symmetric matrix of this size has."""
    return size * (size + 1) // 2


def product_vectors(rows: Array) -> Array:
    """The upper half of x x' for each row x, with what is not on the diagonal times sqrt(2).

    So the length of a vector, and the distance of two, are those of the matrices in the Frobenius norm:
    |x x' - y y'|^2 = |x|^4 + |y|^4 - 2 (x'y)^2, which is at most 2 r^4 for rows in a ball of radius r.

    Examples
    --------
    >>> product_vectors(np.array([[1.0, 2.0]])).round(3)
    array([[1.   , 2.828, 4.   ]])
    """
    upper = np.triu_indices(rows.shape[1])
    return np.asarray(rows[:, upper[0]] * rows[:, upper[1]] * _weights(rows.shape[1]))


def symmetric(vector: Array, size: int) -> Array:
    """The matrix of a half vector.

    Examples
    --------
    >>> symmetric(np.array([1.0, math.sqrt(8), 4.0]), 2)
    array([[1., 2.],
           [2., 4.]])
    """
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = vector / _weights(size)
    return np.asarray(matrix + np.triu(matrix, 1).T)


def _weights(size: int) -> Array:
    first, second = np.triu_indices(size)
    return np.where(first == second, 1.0, math.sqrt(2))


@dataclass(frozen=True)
class ProductReport(BallReport):
    """Randomises x x' as a half vector, without bias.

    A vector that is longer than the radius is shrunk to it; one with a missing or infinite number counts as zero. A
    report has one whole number of four bytes for each of the p (p + 1) / 2 products.

    Parameters
    ----------
    size : int
        Public. The number p of coordinates.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(type(self).__name__, "size", self.size, 2, MOST)
        check_positive(type(self).__name__, "radius", self.radius, 2.0**-20, 2.0**20)

    @property
    def delta(self) -> float:
        """What one report costs besides epsilon."""
        return 0.0

    @property
    @abstractmethod
    def reach(self) -> ReportReach:
        """How far reports can reach."""

    @abstractmethod
    def randomized(self, products: Array, bits: Bits) -> Array:
        """Whole numbers for half vectors."""

    @property
    def numbers(self) -> int:
        return half_size(self.size)

    @property
    def longest(self) -> float:
        return self.reach.length

    def misfit(self, reports: Reports) -> str:
        return self.reach.misfit(reports)

    @property
    def worst_pair(self) -> WorstPair:
        """Two vectors of full length that are orthogonal."""
        return WorstPair(*(np.eye(self.size)[:2] * self.radius))

    def reports(self, values: Any, bits: Bits) -> Reports:
        vectors, rows = self.inside(values), max(1, BLOCK // half_size(self.size))
        reports = np.empty((len(vectors), *self.form.shape), self.form.base)
        for start in range(0, len(vectors), rows):
            drawn = self.randomized(product_vectors(vectors[start : start + rows]), bits)
            reports[start : start + rows] = self.reach.pulled(drawn)
        return reports

    def score(self, reports: Reports) -> Array:
        """The difference of the first two squares."""
        return np.asarray(reports[:, 0], np.float64) - reports[:, self.size]

    def estimated(self, tally: Steps, n: int, *, simulated: bool = False, **how: Any) -> ProductMoments:
        """The mean of x x' over people."""
        name = f"second moments from {n} reports"
        receipt = device_receipt(name, self, simulated=simulated, delta=self.delta)
        return ProductMoments(symmetric(tally * self.unit / n, self.size), self.stddev / math.sqrt(n), n, receipt)


@dataclass(frozen=True)
class PrivUnitProducts(ProductReport):
    """Report x x' by a Gaussian vector that leans towards it: the default for subspaces.

    Pure, and at epsilon 1 with less than half the noise of `GaussianProducts` with a delta of 1e-6.

    Guarantee
    ---------
    That of `PrivUnitVector`, of which it is one report: pure, epsilon, where one vector is replaced by any other. Wang
    and Xu 2020 with the report of Bhowmick, Duchi, Freudiger, Kapoor and Rogers 2018.

    Examples
    --------
    >>> round(PrivUnitProducts(epsilon=1.0, size=20).stddev, 2)
    2.52
    """

    kind: ClassVar[str] = "sphere_products"

    @cached_property
    def vector(self) -> PrivUnitVector:
        """The report of a half vector."""
        return PrivUnitVector(self.epsilon, half_size(self.size), self.radius**2)

    @property
    def event(self) -> Event:
        return self.vector.event

    @property
    def unit(self) -> float:
        return self.vector.unit

    @property
    def stddev(self) -> float:
        return self.vector.stddev

    @property
    def reach(self) -> ReportReach:
        return self.vector.reach

    def randomized(self, products: Array, bits: Bits) -> Array:
        return self.vector.reports(products, bits)


@dataclass(frozen=True)
class GaussianProducts(ProductReport):
    """Report x x' with Gaussian noise in every product.

    `PrivUnitProducts` is pure and has less noise unless delta is large; this is the form that others compare with.

    Parameters
    ----------
    failure : float
        Public. The delta that one report may cost besides.

    Guarantee
    ---------
    `GaussianLoss` of the multiplier that (epsilon, failure) needs exactly (Balle and Wang 2018, Theorem 8), where one
    vector is replaced by any other. The l2 sensitivity of half vectors is sqrt(2) r^2, not 2 r^2, since no two form an
    obtuse angle; what rounding to a grid adds is in it. Wang and Xu 2020, Algorithm 1.

    Examples
    --------
    >>> round(GaussianProducts(epsilon=1.0, size=20).stddev, 2)
    5.97
    """

    failure: float = 1e-6
    kind: ClassVar[str] = "gaussian_products"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.failure < 1:
            raise ParameterError("GaussianProducts", f"failure is {self.failure}", "Give one between 0 and 1, as 1e-6.")

    @property
    def delta(self) -> float:
        return self.failure

    @cached_property
    def multiplier(self) -> float:
        """The noise in units of the sensitivity."""
        return gaussian_multiplier(self.epsilon, self.failure)

    @property
    def event(self) -> Event:
        return GaussianLoss(self.multiplier)

    @property
    def step(self) -> float:
        """What products are rounded to before noise is added: a power of two."""
        return math.ldexp(1.0, math.frexp(self.radius**2)[1] - FINE)

    @property
    def sensitivity(self) -> float:
        """How far apart the rounded half vectors of two people can be: each is rounded by at most half a step."""
        grown = self.radius**2 * (math.sqrt(2) + half_size(self.size) * ROUNDING)
        return grown * (1 + ROUNDING) + self.step * math.sqrt(half_size(self.size))

    @property
    def stddev(self) -> float:
        return self.multiplier * self.sensitivity

    @property
    def unit(self) -> float:
        return max(self.step, math.ldexp(1.0, math.frexp(self.stddev)[1] - COARSE))

    @property
    def reach(self) -> ReportReach:
        """The reach of products (together at most the squared radius long), of their rounding, and of noise."""
        size = half_size(self.size)
        return ReportReach.of_gaussian(self.stddev / self.unit, size, self.radius**2 / self.unit + math.sqrt(size))

    def randomized(self, products: Array, bits: Bits) -> Array:
        noise = rounded_gaussian(bits, products.shape, self.stddev / self.step)
        return np.asarray(np.rint((np.rint(products / self.step) + noise) * (self.step / self.unit)))
