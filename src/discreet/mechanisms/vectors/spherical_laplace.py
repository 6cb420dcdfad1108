"""Spherical Laplace noise: a vector bounded in l2, released with pure privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.events import LaplaceLoss
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.noise.radial import radial_exponential


@dataclass(frozen=True)
class SphericalLaplace(Additive):
    """Add one noise vector to a sum, of density in proportion to exp(-length / scale).

    Its length has the Gamma law with as many degrees as there are coordinates, its direction is uniform. The real
    vector is rounded to the answer's grid, so the textbook promise holds to the letter. For a sum of d coordinates that
    is bounded in l2 the variance is (d + 1) / (2 d) of that of Laplace noise at the same price: half of it, for long
    vectors. For one that is bounded in l1, Laplace noise is better.

    Parameters
    ----------
    multiplier : float
        Public. Noise scale in units of the l2 sensitivity.

    Guarantee
    ---------
    `LaplaceLoss(multiplier)`, so pure with epsilon = 1 / multiplier, for the neighbors the answer was bounded for.
    Hardt and Talwar 2010 (K-norm mechanism); Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1. That the
    loss is dominated by the one of scalar Laplace noise: `spherical_laplace.md`.

    Examples
    --------
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> asked = Bound("l2", 1.0), 100, Neighbors.ADD_REMOVE
    >>> round(SphericalLaplace(2.0).stddev(*asked) / Laplace(2.0).stddev(*asked), 3)
    0.711
    """

    norm: ClassVar[Norm] = "l2"
    deviation: ClassVar[float] = math.sqrt(2)

    @property
    def event(self) -> LaplaceLoss:
        return LaplaceLoss(self.multiplier)

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        """Independent vectors of this scale along the last axis, in grid steps."""
        return radial_exponential(bits, math.prod(shape[:-1]), shape[-1], scale).reshape(shape)

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The sum with noise, on the answer's grid, or on one where a coordinate's noise is below 2**40 steps."""
        return super().release(answer.coarsened(self.multiplier * math.sqrt(answer.size), self.norm), bits)

    def report(self, answers: Answer, bits: Bits) -> Array:
        return self.release(answers, bits)

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors, grid: Grid | None = None) -> float:
        """The standard deviation of the noise on each coordinate of such a sum, except for the grid: public.

        The mean square of a length of the Gamma law of d degrees is d (d + 1), and each coordinate has a share 1 / d.
        """
        return math.sqrt(size + 1) * self.multiplier * bound.sensitivity(self.norm, size, neighbors)
