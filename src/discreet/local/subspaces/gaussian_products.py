"""Products with Gaussian noise: the reports of Wang and Xu's local principal components."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import Event, GaussianLoss
from discreet.core.grid import Array
from discreet.local.means.report_reach import ReportReach
from discreet.local.subspaces.half_vector import half_size
from discreet.local.subspaces.product_report import ProductReport
from discreet.noise.gaussian import rounded_gaussian

FINE = 32  # bits between the squared radius and the steps that products are rounded to
COARSE = 18  # bits of a deviation that are reported
ROUNDING = 2.0**-40  # of float64 in a product, relative to the squared radius


@dataclass(frozen=True)
class GaussianProducts(ProductReport):
    """Report x x' with Gaussian noise in every product.

    `SphereProducts` is pure and has less noise unless delta is large; this is the form that others compare with.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    size : int
        Public. The number p of coordinates.
    radius : float
        Public. Of the ball in l2.
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
        """What one report costs besides epsilon."""
        return self.failure

    @cached_property
    def multiplier(self) -> float:
        """The noise in units of the sensitivity."""
        return gaussian_multiplier(self.epsilon, self.failure)

    @property
    def event(self) -> Event:
        """The price of one report."""
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
        """Of the noise."""
        return self.multiplier * self.sensitivity

    @property
    def unit(self) -> float:
        """A power of two, about 2**-18 deviations."""
        return max(self.step, math.ldexp(1.0, math.frexp(self.stddev)[1] - COARSE))

    @property
    def reach(self) -> ReportReach:
        """Of products that are at most the squared radius long together, of their rounding, and of noise."""
        size = half_size(self.size)
        return ReportReach.of_gaussian(self.stddev / self.unit, size, self.radius**2 / self.unit + math.sqrt(size))

    def randomized(self, products: Array, bits: Bits) -> Array:
        """The rounded products and noise, rounded again."""
        noise = rounded_gaussian(bits, products.shape, self.stddev / self.step)
        return np.asarray(np.rint((np.rint(products / self.step) + noise) * (self.step / self.unit)))
