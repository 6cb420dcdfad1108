"""Discrete Gaussian noise: whole numbers, concentrated privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Norm
from discreet.core.events import ConcentratedLoss
from discreet.core.grid import Array, Steps
from discreet.core.rounding import upwards
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.error_law import ErrorLaw, NormalError
from discreet.noise.gaussian import discrete_gaussian


@dataclass(frozen=True)
class DiscreteGaussian(Additive):
    """Add discrete Gaussian noise, in grid steps, to every coordinate of a sum.

    P(k) is proportional to exp(-k^2 / (2 stddev^2)). For sums that must stay whole numbers, as among parties who add
    modulo a power of two.

    Parameters
    ----------
    multiplier : float
        Public. Noise parameter in units of the l2 sensitivity.

    Guarantee
    ---------
    `ConcentratedLoss(1 / (2 multiplier^2))`, for the neighbors the answer was bounded for.
    Canonne, Kamath and Steinke 2020, Theorem 14 (any dimension).

    Examples
    --------
    >>> DiscreteGaussian(multiplier=2.0).event
    ConcentratedLoss(rho=0.125)
    """

    norm: ClassVar[Norm] = "l2"
    law: ClassVar[ErrorLaw] = NormalError()
    deviation: ClassVar[float] = 1.0
    step: ClassVar[float] = 1.0

    @property
    def event(self) -> ConcentratedLoss:
        """The price of one release; its rounding is upwards."""
        return ConcentratedLoss(upwards(1 / (2 * Fraction(self.multiplier) ** 2)))

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent draws of this scale, in grid steps."""
        return discrete_gaussian(bits, shape, scale)

    def report(self, answers: Answer, bits: Bits) -> Array:
        """What people report of their own contributions: each with noise of its own."""
        return self.release(answers, bits)
