"""Discrete Laplace (two-sided geometric) noise: whole numbers, pure privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Grid, Steps
from discreet.core.mechanism import NoiseContext
from discreet.core.neighbors import Neighbors
from discreet.core.rounding import upwards
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.error_law import ErrorLaw, GeometricError
from discreet.noise.laplace import discrete_laplace

FARTHEST = 700.0  # has an exponential in float64


@dataclass(frozen=True)
class DiscreteLaplace(Additive):
    """Add two-sided geometric noise, in grid steps, to every coordinate of a sum.

    P(k) is proportional to exp(-|k| / scale). For counts, whose step is 1, this is the geometric mechanism, the best
    pure one for a count under every loss that grows with the error.

    Parameters
    ----------
    multiplier : float
        Public. Noise scale in units of the l1 sensitivity.

    Guarantee
    ---------
    `PureLoss(1 / multiplier)`, for the neighbors the answer was bounded for. Ghosh, Roughgarden and Sundararajan 2012,
    section 2; for vectors by the triangle inequality in the exponent.

    Examples
    --------
    >>> DiscreteLaplace(multiplier=2.0).event
    PureLoss(epsilon=0.5)
    """

    norm: ClassVar[Norm] = "l1"
    law: ClassVar[ErrorLaw] = GeometricError()
    deviation: ClassVar[float] = math.sqrt(2)
    step: ClassVar[float] = 1.0

    @property
    def event(self) -> PureLoss:
        """The price of one release; its rounding is upwards."""
        return PureLoss(upwards(1 / Fraction(self.multiplier)))

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent draws of this scale, in grid steps."""
        return discrete_laplace(bits, shape, scale)

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors, grid: Grid | None = None) -> float:
        """The standard deviation of the noise on each coordinate: less than sqrt(2) scales, where these are few steps.

        The variance of noise of scale s steps is 1 / (2 sinh(1 / (2 s))^2).
        """
        fine = super().stddev(bound, size, neighbors)
        if grid is None:
            return fine
        return grid.step * math.sqrt(0.5) / math.sinh(min(math.sqrt(0.5) * grid.step / fine, FARTHEST))

    def report(self, answers: Answer, bits: Bits) -> Array:
        """What people report of their own contributions: each with noise of its own."""
        return self.release(answers, bits)

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        """For whole numbers, where losses just add up: its loss is always the worst of its epsilon."""
        return asked.whole and asked.pure
