"""Discrete Gaussian noise: whole numbers, concentrated privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import ConcentratedLoss
from discreet.core.grid import Array
from discreet.core.mechanism import check_knob
from discreet.core.neighbors import Neighbors
from discreet.core.rounding import upwards
from discreet.noise.gaussian import discrete_gaussian


@dataclass(frozen=True)
class DiscreteGaussian:
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

    multiplier: float = 1.0
    knob: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        check_knob("DiscreteGaussian", "multiplier", self.multiplier)

    @property
    def event(self) -> ConcentratedLoss:
        """The price of one release; its rounding is upwards."""
        return ConcentratedLoss(upwards(1 / (2 * Fraction(self.multiplier) ** 2)))

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The sum with noise, on the answer's grid."""
        answer = answer.coarsened(self.multiplier, "l2")
        return answer.noised(discrete_gaussian(bits, answer.steps.shape, answer.scale(self.multiplier, "l2")))

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors) -> float:
        """At least the standard deviation of the noise on each coordinate of such a sum: public."""
        return self.multiplier * bound.sensitivity("l2", size, neighbors)

    def worst_neighbors(self) -> Apart:
        """A count that moves by one."""
        bound = Bound("l2", 1.0)
        return Apart(whole_numbers([0], bound), whole_numbers([1], bound))
