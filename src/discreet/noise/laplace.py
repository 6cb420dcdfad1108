"""Laplace noise on the integers, exactly."""

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
class DiscreteLaplaceLaw:
    """Weight exp(-|k| / scale)."""

    scale: float
    sides = 2

    def exponent(self, k: Array, u: Array | float) -> Array:
        return np.abs(k) / self.scale

    def exact_exponent(self, k: int, u: Interval) -> Interval:
        return Interval.of(abs(k)) / self.scale

    def reach(self, exponent: float) -> float:
        return exponent * self.scale


@dataclass(frozen=True)
class FlooredLaplaceLaw(DiscreteLaplaceLaw):
    """A Laplace real rounded down: weight exp(-k / scale) for k >= 0, without memory, mirrored to -1 - k."""

    def exponent(self, k: Array, u: Array | float) -> Array:
        return np.maximum(k, -1.0 - k) / self.scale

    def exact_exponent(self, k: int, u: Interval) -> Interval:
        return Interval.of(max(k, -1 - k)) / self.scale


def rounded_laplace(bits: Bits, size: Size, scale: float) -> Steps:
    """Draw Laplace reals of density exp(-|x| / scale) / (2 scale), rounded to the nearest integer.

    Adding it to an integer n is rounding n plus the real: a function of the textbook mechanism's output, so that
    every promise of that mechanism holds.

    Parameters
    ----------
    scale : float
        Public. In steps; between 1e-6 and 2**52. Choose it near 2**30 to lose nothing by rounding.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rounded_laplace(DeterministicBits(1), 5, scale=10.0)
    array([ 4, 19,  6, -2, -7])
    """
    shape, scale = checked_shape("rounded Laplace noise", size), checked_scale("rounded Laplace noise", scale)
    finer = refinement(scale)
    return nearest(drawn(bits, FlooredLaplaceLaw(math.ldexp(scale, finer)), shape), finer)


def discrete_laplace(bits: Bits, size: Size, scale: float) -> Steps:
    """Draw integers k with probability in proportion to exp(-|k| / scale).

    Parameters
    ----------
    scale : float
        Public. In steps; between 1e-6 and 2**52.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> discrete_laplace(DeterministicBits(1), (2, 3), scale=10.0)
    array([[ 3, 17,  5],
           [-2, -8,  5]])
    """
    shape, scale = checked_shape("discrete Laplace noise", size), checked_scale("discrete Laplace noise", scale)
    return drawn(bits, DiscreteLaplaceLaw(scale), shape)


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
