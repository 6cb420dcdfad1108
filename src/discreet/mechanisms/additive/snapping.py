"""The snapping mechanism: Laplace noise in plain floats, made safe by rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.answer import MOST_CELLS, Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, upwards
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.noise.log_uniform import log_uniform
from discreet.noise.uniform import uniform_integers

ROUNDING = Fraction(1, 2**47)
WHOLE = 52  # bits: all whole numbers up to the limit are floats
FARTHEST = 2.0**38  # the limit, in noise scales


@dataclass(frozen=True)
class Snapping(CheckedParameters):
    """Add Laplace noise to a number in float64 arithmetic, then round so coarsely that no low bits are left.

    For comparison: this is how a float is released safely without a grid for the answer. `Laplace` loses less. The
    answer is clamped, the noise is the scale times the correctly rounded logarithm of a uniform number of full
    precision, the sum is rounded to a multiple of the least power of two not below the scale, and clamped again.

    Parameters
    ----------
    multiplier : float
        Public. Noise scale in units of the sensitivity.
    limit : float
        Public. Answers and releases are clamped to this number of sensitivities.

    Guarantee
    ---------
    Pure, epsilon = (1 + 2^-47 (limit + multiplier)) / multiplier, for the neighbors the answer was bounded for.
    Mironov 2012, Theorem 1, has 2^-49 limit for the second term; the one here is what `snapping.md` proves.

    Examples
    --------
    >>> Snapping(multiplier=2.0).event.epsilon - 0.5 < 1e-8
    True
    """

    multiplier: float = 1.0
    limit: float = 2.0**20
    calibrated: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        check_positive("Snapping", "multiplier", self.multiplier)
        check_positive("Snapping", "limit", self.limit, least=1.0, most=FARTHEST * self.multiplier)

    @property
    def event(self) -> PureLoss:
        """The price of one release; its rounding is upwards."""
        multiplier, limit = Fraction(self.multiplier), Fraction(self.limit)
        return PureLoss(upwards((1 + ROUNDING * (limit + multiplier)) / multiplier))

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The number with noise, on a power of two."""
        if answer.size != 1:
            raise ParameterError(
                "Snapping",
                f"the answer has {answer.size} coordinates",
                "Ask for one number at a time, or add Laplace noise.",
                "Nothing was released.",
                size=answer.size,
            )
        answer = answer.coarsened(math.ldexp(self.limit, MOST_CELLS - WHOLE), "l1")
        scale, limit = answer.scale(self.multiplier, "l1"), answer.scale(self.limit, "l1")
        return answer.grid.values(snapped(np.clip(answer.steps, -limit, limit), scale, limit, bits))

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors) -> float:
        """The standard deviation of the noise and its rounding, except for the limit: public."""
        scale = self.multiplier * bound.sensitivity("l1", size, neighbors)
        return math.sqrt(2 * scale**2 + math.ldexp(1.0, power_above(scale)) ** 2 / 12)

    def worst_neighbors(self) -> NeighborPair:
        """A number that moves by its whole bound."""
        bound = Bound("l1", 2.0**20)
        return NeighborPair(whole_numbers([0], bound), whole_numbers([2**20], bound))


def snapped(values: Array, scale: float, limit: float, bits: Bits) -> Array:
    """Values with noise, in float64, rounded to multiples of the least power of two not below the scale, and clamped.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> snapped(np.zeros(4), 3.0, 100.0, DeterministicBits(1))
    array([ 0., -4., -4.,  0.])
    """
    signs = 1.0 - 2.0 * uniform_integers(bits, values.shape, 2)
    noisy = values + signs * (scale * log_uniform(bits, values.shape))
    exponent = power_above(scale)
    steps = np.rint(np.ldexp(noisy, -exponent)) + 0.0  # no negative zero: it would reveal a sign
    return np.clip(np.ldexp(steps, exponent), -limit, limit)


def power_above(scale: float) -> int:
    """The exponent of the least power of two that is not below.

    Examples
    --------
    >>> power_above(4.0), power_above(4.1)
    (2, 3)
    """
    mantissa, exponent = math.frexp(scale)
    return exponent - 1 if mantissa == 0.5 else exponent
