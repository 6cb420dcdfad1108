"""Gaussian noise: a sum, released with Gaussian differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import GaussianLoss
from discreet.core.grid import Array
from discreet.core.mechanism import check_knob
from discreet.core.neighbors import Neighbors
from discreet.noise.gaussian import rounded_gaussian


@dataclass(frozen=True)
class Gaussian:
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

    multiplier: float = 1.0
    knob: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        check_knob("Gaussian", "multiplier", self.multiplier)

    @property
    def event(self) -> GaussianLoss:
        """The price of one release."""
        return GaussianLoss(self.multiplier)

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The sum with noise, on the answer's grid."""
        answer = answer.coarsened(self.multiplier, "l2")
        return answer.noised(rounded_gaussian(bits, answer.steps.shape, answer.scale(self.multiplier, "l2")))

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors) -> float:
        """The standard deviation of the noise on each coordinate of such a sum: public."""
        return self.multiplier * bound.sensitivity("l2", size, neighbors)

    def worst_neighbors(self) -> Apart:
        """A scalar that moves by its whole bound, on a fine grid."""
        bound = Bound("l2", 2.0**20)
        return Apart(whole_numbers([0], bound), whole_numbers([2**20], bound))
