"""Products by PrivUnit: reports for principal components without a delta."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from discreet.core.bits import Bits
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.local.means.report_reach import ReportReach
from discreet.local.means.sphere_vector import SphereVector
from discreet.local.subspaces.half_vector import half_size
from discreet.local.subspaces.product_report import ProductReport


@dataclass(frozen=True)
class SphereProducts(ProductReport):
    """Report x x' by a Gaussian vector that leans towards it: the default for subspaces.

    Pure, and at epsilon 1 with less than half the noise of `GaussianProducts` with a delta of 1e-6.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    size : int
        Public. The number p of coordinates.
    radius : float
        Public. Of the ball in l2.

    Guarantee
    ---------
    That of `SphereVector`, of which it is one report: pure, epsilon, where one vector is replaced by any other. Wang
    and Xu 2020 with the report of Bhowmick, Duchi, Freudiger, Kapoor and Rogers 2018.

    Examples
    --------
    >>> round(SphereProducts(epsilon=1.0, size=20).stddev, 2)
    2.52
    """

    kind: ClassVar[str] = "sphere_products"

    @cached_property
    def vector(self) -> SphereVector:
        """The report of a half vector."""
        return SphereVector(self.epsilon, half_size(self.size), self.radius**2)

    @property
    def event(self) -> Event:
        """The price of one report."""
        return self.vector.event

    @property
    def unit(self) -> float:
        """That of the vector's report."""
        return self.vector.unit

    @property
    def stddev(self) -> float:
        """That of the vector's report."""
        return self.vector.stddev

    @property
    def reach(self) -> ReportReach:
        """That of the vector's report."""
        return self.vector.reach

    def randomized(self, products: Array, bits: Bits) -> Array:
        """The report of each half vector."""
        return self.vector.reports(products, bits)
