"""Gaussian noise on the integers, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Array, Steps
from discreet.noise.interval import Interval
from discreet.noise.rejection_table import drawn, nearest, refinement
from discreet.noise.request import Size, checked_scale, checked_shape


@dataclass(frozen=True)
class DiscreteGaussianLaw:
    """Weight exp(-(k / scale)**2 / 2)."""

    scale: float
    sides = 2

    def exponent(self, k: Array, u: Array | float) -> Array:
        return np.square(k / self.scale) / 2

    def exact_exponent(self, k: int, u: Interval) -> Interval:
        return (Interval.of(k) / self.scale).square() / 2

    def reach(self, exponent: float) -> float:
        return math.sqrt(2 * exponent) * self.scale


@dataclass(frozen=True)
class FlooredGaussianLaw(DiscreteGaussianLaw):
    """A Gaussian real rounded down: the density at k + u."""

    def exponent(self, k: Array, u: Array | float) -> Array:
        return np.square((k + u) / self.scale) / 2

    def exact_exponent(self, k: int, u: Interval) -> Interval:
        return ((Interval.of(k) + u) / self.scale).square() / 2


def rounded_gaussian(bits: Bits, size: Size, stddev: float) -> Steps:
    """Draw Gaussian reals of mean 0, rounded to the nearest integer.

    Adding it to an integer n is rounding n plus the real: a function of the textbook mechanism's output, so that
    every promise of that mechanism holds.

    Parameters
    ----------
    stddev : float
        Public. In steps; between 1e-6 and 2**52. Choose it near 2**30 to lose nothing by rounding.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rounded_gaussian(DeterministicBits(1), 5, stddev=10.0)
    array([ 4, 15,  6, -2, -7])
    """
    shape, scale = checked_shape("rounded Gaussian noise", size), checked_scale("rounded Gaussian noise", stddev)
    finer = refinement(scale)
    return nearest(drawn(bits, FlooredGaussianLaw(math.ldexp(scale, finer)), shape), finer)


def discrete_gaussian(bits: Bits, size: Size, stddev: float) -> Steps:
    """Draw integers k with probability in proportion to exp(-(k / stddev)**2 / 2).

    The discrete Gaussian of Canonne, Kamath and Steinke 2020; `stddev` is slightly above its standard deviation.

    Parameters
    ----------
    stddev : float
        Public. In steps; between 1e-6 and 2**52.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> discrete_gaussian(DeterministicBits(1), (2, 3), stddev=10.0)
    array([[ 4, 13,  5],
           [-2, -7,  5]])
    """
    shape, scale = checked_shape("discrete Gaussian noise", size), checked_scale("discrete Gaussian noise", stddev)
    return drawn(bits, DiscreteGaussianLaw(scale), shape)
