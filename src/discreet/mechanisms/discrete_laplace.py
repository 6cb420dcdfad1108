"""Discrete Laplace (two-sided geometric) noise: whole numbers, pure privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import PureLoss
from discreet.core.grid import Array
from discreet.core.mechanism import check_knob
from discreet.core.neighbors import Neighbors
from discreet.core.rounding import upwards
from discreet.noise.laplace import discrete_laplace


@dataclass(frozen=True)
class DiscreteLaplace:
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

    multiplier: float = 1.0
    knob: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        check_knob("DiscreteLaplace", "multiplier", self.multiplier)

    @property
    def event(self) -> PureLoss:
        """The price of one release; its rounding is upwards."""
        return PureLoss(upwards(1 / Fraction(self.multiplier)))

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The sum with noise, on the answer's grid."""
        answer = answer.coarsened(self.multiplier, "l1")
        return answer.noised(discrete_laplace(bits, answer.steps.shape, answer.scale(self.multiplier, "l1")))

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors) -> float:
        """The standard deviation of the noise on each coordinate of such a sum, but for the grid: public."""
        return math.sqrt(2) * self.multiplier * bound.sensitivity("l1", size, neighbors)

    def worst_neighbors(self) -> Apart:
        """A count that moves by one."""
        bound = Bound("l1", 1.0)
        return Apart(whole_numbers([0], bound), whole_numbers([1], bound))
