"""Laplace noise: a sum, released with pure privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Norm
from discreet.core.events import LaplaceLoss
from discreet.core.grid import Array, Steps
from discreet.core.mechanism import NoiseContext
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.error_law import ErrorLaw, LaplaceError
from discreet.mechanisms.shares.laplace_share import LaplaceShare
from discreet.noise.laplace import rounded_laplace


@dataclass(frozen=True)
class Laplace(Additive):
    """Add Laplace noise to every coordinate of a sum.

    The noise is the real Laplace variable rounded to the answer's grid, which is the continuous mechanism followed
    by rounding: the textbook promise holds to the letter.

    Parameters
    ----------
    multiplier : float
        Public. Noise scale in units of the l1 sensitivity.

    Guarantee
    ---------
    `LaplaceLoss(multiplier)`, so pure with epsilon = 1 / multiplier, for the neighbors the answer was bounded for.
    Dwork, McSherry, Nissim and Smith 2006, Proposition 1; for vectors the loss is dominated by the one of a scalar
    with the same l1 sensitivity (`laplace.md`).

    Examples
    --------
    >>> Laplace(multiplier=2.0).event
    LaplaceLoss(multiplier=2.0)
    """

    norm: ClassVar[Norm] = "l1"
    law: ClassVar[ErrorLaw] = LaplaceError()
    deviation: ClassVar[float] = math.sqrt(2)

    @cached_property
    def event(self) -> LaplaceLoss:
        """The price of one release."""
        return LaplaceLoss(self.multiplier)

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent draws of this scale, in grid steps."""
        return rounded_laplace(bits, shape, scale)

    def share(self, honest: int) -> LaplaceShare:
        """What each party adds to its own sum, for this number of honest parties."""
        return LaplaceShare(self.multiplier, honest)

    def report(self, answers: Answer, bits: Bits) -> Array:
        """What people report of their own contributions: each with noise of its own."""
        return self.release(answers, bits)

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        """Always."""
        return True
