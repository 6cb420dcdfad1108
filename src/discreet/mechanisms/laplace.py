"""Laplace noise: a sum, released with pure privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.events import LaplaceLoss
from discreet.core.grid import Array
from discreet.core.mechanism import check_knob
from discreet.core.neighbors import Neighbors
from discreet.noise.laplace import rounded_laplace


@dataclass(frozen=True)
class Laplace:
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

    multiplier: float = 1.0
    knob: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        check_knob("Laplace", "multiplier", self.multiplier)

    @property
    def event(self) -> LaplaceLoss:
        """The price of one release."""
        return LaplaceLoss(self.multiplier)

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The sum with noise, on the answer's grid."""
        answer = answer.coarsened(self.multiplier, "l1")
        return answer.noised(rounded_laplace(bits, answer.steps.shape, answer.scale(self.multiplier, "l1")))

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors) -> float:
        """The standard deviation of the noise on each coordinate of such a sum: public."""
        return math.sqrt(2) * self.multiplier * bound.sensitivity("l1", size, neighbors)

    def worst_neighbors(self) -> Apart:
        """A scalar that moves by its whole bound, on a fine grid."""
        bound = Bound("l1", 2.0**20)
        return Apart(whole_numbers([0], bound), whole_numbers([2**20], bound))
