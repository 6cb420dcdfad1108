"""Gaussian noise: a sum, released with Gaussian differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Norm
from discreet.core.events import GaussianLoss
from discreet.core.grid import Array, Steps
from discreet.core.mechanism import NoiseContext
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.error_law import ErrorLaw, NormalError
from discreet.mechanisms.shares.gaussian_share import GaussianShare
from discreet.noise.gaussian import rounded_gaussian


@dataclass(frozen=True)
class Gaussian(Additive):
    """Add Gaussian noise to every coordinate of a sum.

    The noise is the real Gaussian variable rounded to the answer's grid: the continuous mechanism followed by
    rounding, so no discrete correction is needed.

    Parameters
    ----------
    multiplier : float
        Public. Noise standard deviation in units of the l2 sensitivity.

    Guarantee
    ---------
    `GaussianLoss(multiplier)`: Gaussian differential privacy with mu = 1 / multiplier, for the neighbors the answer
    was bounded for. Dong, Roth and Su 2022, Theorem 2.7; the exact (epsilon, delta) curve is that of Balle and Wang
    2018, Theorem 8.

    Examples
    --------
    >>> Gaussian(multiplier=1.1).event
    GaussianLoss(multiplier=1.1)
    """

    norm: ClassVar[Norm] = "l2"
    law: ClassVar[ErrorLaw] = NormalError()
    deviation: ClassVar[float] = 1.0

    @property
    def event(self) -> GaussianLoss:
        """The price of one release."""
        return GaussianLoss(self.multiplier)

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent draws of this scale, in grid steps."""
        return rounded_gaussian(bits, shape, scale)

    def share(self, honest: int) -> GaussianShare:
        """What each party adds to its own sum, for this number of honest parties."""
        return GaussianShare(self.multiplier, honest)

    def report(self, answers: Answer, bits: Bits) -> Array:
        """What people report of their own contributions: each with noise of its own."""
        return self.release(answers, bits)

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        """Where delta may be paid."""
        return asked.delta > 0
