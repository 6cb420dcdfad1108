"""Reports of the products x x' of each person's vector with itself."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.device_receipt import device_receipt
from discreet.local.means.report_reach import ReportReach, mean_misfit
from discreet.local.randomizer import Randomizer, Reports, WorstPair, refused
from discreet.local.subspaces.half_vector import half_size, product_vectors, symmetric
from discreet.local.subspaces.product_moments import ProductMoments
from discreet.trust.sources.columns.raw_values import numbers_each

MOST = 2**10  # coordinates
BLOCK = 2**22  # numbers of reports that are made at a time


@dataclass(frozen=True)
class ProductReport(Randomizer):
    """Randomises x x' as a half vector, without bias.

    A vector that is longer than the radius is shrunk to it; one with a missing or infinite number counts as zero. A
    report has one whole number of four bytes for each of the p (p + 1) / 2 products.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    size : int
        Public. The number p of coordinates.
    radius : float
        Public. Of the ball in l2.
    """

    size: int = 2
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(type(self).__name__, "size", self.size, 2, MOST)
        check_positive(type(self).__name__, "radius", self.radius, 2.0**-20, 2.0**20)

    @property
    @abstractmethod
    def unit(self) -> float:
        """What one step of a report is worth."""

    @property
    @abstractmethod
    def stddev(self) -> float:
        """Of the noise of one report, in each number of the half vector."""

    @property
    def delta(self) -> float:
        """What one report costs besides epsilon."""
        return 0.0

    @property
    @abstractmethod
    def reach(self) -> ReportReach:
        """Of the reports."""

    @abstractmethod
    def randomized(self, products: Array, bits: Bits) -> Array:
        """Whole numbers for half vectors."""

    @property
    def form(self) -> np.dtype[Any]:
        """One number for each product."""
        return np.dtype(("<i4", (half_size(self.size),)))

    @property
    def worst_pair(self) -> WorstPair:
        """Two vectors of full length that are orthogonal."""
        return WorstPair(*(np.eye(self.size)[:2] * self.radius))

    def inside(self, values: Any) -> Array:
        """Vectors in the ball."""
        found = numbers_each(values, (self.size,))
        if found.ndim != 2 or found.shape[1] != self.size:
            obstacle = f"the shape of the vectors is {found.shape}"
            raise ParameterError(type(self).__name__, obstacle, f"Give rows of {self.size} numbers.")
        return Bound("l2", self.radius).clip(found)

    def content(self, value: Any) -> bytes:
        """The vector in the ball."""
        return (self.inside([value]) + 0.0).tobytes()

    def stand_in(self, bits: Bits) -> Array:
        """The zero vector, whose report is noise alone."""
        return np.zeros(self.size)

    def reports(self, values: Any, bits: Bits) -> Reports:
        """The products of each vector, randomised."""
        vectors, rows = self.inside(values), max(1, BLOCK // half_size(self.size))
        reports = np.empty((len(vectors), *self.form.shape), self.form.base)
        for start in range(0, len(vectors), rows):
            drawn = self.randomized(product_vectors(vectors[start : start + rows]), bits)
            reports[start : start + rows] = self.reach.pulled(drawn)
        return reports

    def score(self, reports: Reports) -> Array:
        """The difference of the first two squares."""
        return np.asarray(reports[:, 0], np.float64) - reports[:, self.size]

    def accepted(self, reports: Reports) -> Reports:
        """Whole numbers, one for each product, that a device can have made."""
        if reports.dtype.kind != "i" or reports.dtype.itemsize != 4 or reports.shape[1:] != self.form.shape:
            raise refused(self, f"they are {reports.dtype} {reports.shape} and not int32 (n, {self.form.shape[0]})")
        if wrong := self.reach.misfit(reports):
            raise refused(self, wrong)
        return reports

    def tallied(self, reports: Reports) -> Steps:
        """The sum."""
        return np.asarray(reports.sum(axis=0, dtype=np.int64))

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """The mean is no longer than a report can be."""
        return mean_misfit(tally, n, self.reach.length)

    def estimated(self, tally: Steps, n: int, *, simulated: bool = False, **how: Any) -> ProductMoments:
        """The mean of x x' over people."""
        name = f"second moments from {n} reports"
        receipt = device_receipt(name, self, simulated=simulated, delta=self.delta)
        return ProductMoments(symmetric(tally * self.unit / n, self.size), self.stddev / math.sqrt(n), n, receipt)
