"""Noise that never leaves an interval, rounded to the integers, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.noise.interval import Interval
from discreet.noise.rejection_table import drawn, nearest, refinement
from discreet.noise.request import Size, checked_scale, checked_shape

OUTSIDE = 1e6  # an exponent from which on nothing is drawn
NEVER = Interval(Decimal("Infinity"), Decimal("Infinity"))


def exponent(share: Array) -> Array:
    """exp(1 / (1 - share**2)) - e: minus the logarithm of the density at this share of the radius, less that at 0.

    Infinite outside, and where the density is below exp(-`OUTSIDE`).

    Examples
    --------
    >>> exponent(np.array([0.0, 0.5, -1.0])).round(4)
    array([0.    , 1.0754,    inf])
    """
    room = np.maximum(1 - np.square(share), 0.0)
    inside = room > 1 / math.log(OUTSIDE)
    return np.where(inside, np.exp(1 / np.where(inside, room, 1.0)) - math.e, np.inf)


def farthest(exponent: float) -> float:
    """The share of the radius at which the exponent reaches this value.

    Examples
    --------
    >>> round(farthest(1.0754), 4)
    0.5
    """
    return math.sqrt(1 - 1 / math.log(exponent + math.e))


@dataclass(frozen=True)
class FlooredBoundedLaw:
    """The real rounded down: the density at k + u.

    At a share s of the radius, y = 1 / (1 - s**2) is off by 5 y**2 units of 2**-53, so that exp(y) - e is off by
    (5 y**2 + 9) (x + e) of them where it is x. Heights down to `ERROR` of `rejection_table` have y < 3.5, and x + e
    against exp(-x) is greatest at x = 0: less than 2**-45 in all, a thirtieth of that margin.
    """

    radius: float
    sides = 2

    @property
    def scale(self) -> float:
        """From the share 0.49 on, where the exponent is 1, it grows by more than 6 for each radius, and ever faster."""
        return self.radius / 4

    def exponent(self, k: Array, u: Array | float) -> Array:
        return exponent((k + u) / self.radius)

    def exact_exponent(self, k: int, u: Interval) -> Interval:
        room = Interval.of(1) - ((Interval.of(k) + u) / self.radius).square()
        if float(room.lo) <= 1 / math.log(OUTSIDE):
            return NEVER
        return (-room.ln()).exp().exp() - Interval.of(1).exp()

    def reach(self, exponent: float) -> float:
        return self.radius * farthest(exponent)


def rounded_bounded(bits: Bits, size: Size, radius: float) -> Steps:
    """Draw reals of density in proportion to exp(-exp(radius**2 / (radius**2 - x**2))), rounded to integers.

    The density of Dagan and Kur 2022: it vanishes at the radius with all its derivatives, and its logarithm is
    concave. Nothing is drawn where it is less than exp(-1e6) of its maximum.

    Parameters
    ----------
    radius : float
        Public. In steps; between 1e-6 and 2**52. Choose it near 2**30 to lose nothing by rounding.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rounded_bounded(DeterministicBits(1), 5, radius=100.0)
    array([ 13,  42,  18,  -7, -23])
    """
    shape, radius = checked_shape("bounded noise", size), checked_scale("bounded noise", radius)
    finer = refinement(radius / 4)
    return nearest(drawn(bits, FlooredBoundedLaw(math.ldexp(radius, finer)), shape), finer)
