"""Exponential noise on the integers, exactly."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.noise.interval import Interval
from discreet.noise.rejection_table import drawn
from discreet.noise.request import Size, checked_scale, checked_shape


@dataclass(frozen=True)
class FlooredExponentialLaw:
    """An exponential real rounded down: by the memoryless law, weight exp(-k / scale) for k >= 0."""

    scale: float
    sides = 1

    def exponent(self, k: Array, u: Array | float) -> Array:
        return k / self.scale

    def exact_exponent(self, k: int, u: Interval) -> Interval:
        return Interval.of(k) / self.scale

    def reach(self, exponent: float) -> float:
        return exponent * self.scale


def rounded_exponential(bits: Bits, size: Size, scale: float) -> Steps:
    """Draw exponential reals of mean `scale`, rounded down to integers: 0, 1, 2, ...

    Rounded down, the law is geometric: P(R >= r) = exp(-r / scale) for every integer r >= 0, and 1 below. So
    P(R >= r + k) >= exp(-k / scale) P(R >= r) for all integers r and k >= 0, with equality for r >= 0: what
    report-noisy-max and the sparse vector need of their noise, without rounding error.

    Parameters
    ----------
    bits, size
        As for `rounded_laplace`.
    scale : float
        Public. The mean of the real, in steps; between 1e-6 and 2**52.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rounded_exponential(DeterministicBits(1), 5, scale=10.0)
    array([10, 23, 12,  5,  2])
    """
    asked = "exponential noise"
    return drawn(bits, FlooredExponentialLaw(checked_scale(asked, scale)), checked_shape(asked, size))
