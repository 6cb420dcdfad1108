"""The laws of what a figure is off by: noise and sampling error, added up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, wofz

from discreet.core.grid import Array

SMOOTH = 0.03  # of the deviation: the least normal part of a law that is inverted
FAINT = 1e-14  # of a wave that is left out: a few thousand of them do not add up to 1e-10


@dataclass(frozen=True)
class Law:
    """A normal variable and Laplace variables, independent, added up.

    Parameters
    ----------
    stddev : float
        Of the normal variable.
    scales : array
        Of the Laplace variables.
    """

    stddev: float
    scales: Array

    @property
    def deviation(self) -> float:
        """The standard deviation of the sum."""
        return math.sqrt(self.stddev**2 + 2 * float(np.square(self.scales).sum()))

    @property
    def normal(self) -> bool:
        """Whether the sum is a normal variable."""
        return not self.scales.any()

    def others(self, t: Array) -> Array:
        """The real part of the characteristic function of all but the normal variable."""
        return 1 / np.prod(1 + np.square(np.outer(self.scales, t)), axis=0)

    def outside(self, distance: float) -> float:
        """How likely the sum is at least so far from zero.

        The characteristic function, for these variables exp(-s^2 t^2 / 2) prod_i 1 / (1 + b_i^2 t^2), inverted by the
        trapezium rule (Gil-Pelaez 1951). Steps of 2 pi / (80 deviations) neglect what lies beyond some 70 deviations,
        and ending at 6.5 / s what is below 1e-9. A small normal part, which would take long, counts as 0.03 deviations.

        Examples
        --------
        >>> round(Law(0.5, np.array([1.0])).outside(3.0), 4)
        0.0564
        """
        if distance <= 0 or self.deviation == 0:
            return 1.0 if distance <= 0 else 0.0
        if self.normal:
            return 2 * float(ndtr(-distance / self.deviation))
        return min(max(1.0 - self._inside(distance), 0.0), 1.0)

    def half_width(self, chance: float) -> float:
        """How far from zero the sum is with this chance; no farther than Chebyshev's inequality allows."""
        deviation = self.deviation
        if deviation == 0 or self.normal:
            return float(-ndtri(chance / 2)) * deviation
        farthest = min(70.0, 1.01 / math.sqrt(chance)) * deviation
        return float(brentq(lambda distance: 1.0 - self._inside(distance) - chance, 0.0, farthest, rtol=1e-13))

    def _inside(self, distance: float) -> float:
        t, amounts = self._waves
        return float(2 / math.pi * (0.5 * distance * t[0] + np.sin(distance * t) @ amounts))

    @cached_property
    def _waves(self) -> Array:
        """Frequencies, and how much of each one the law has, in two rows."""
        deviation = self.deviation
        smooth, step = max(self.stddev, SMOOTH * deviation), 2 * math.pi / (80 * deviation)
        t = step * np.arange(1.0, 6.5 / (smooth * step) + 2)
        amounts = np.exp(-0.5 * np.square(smooth * t)) * self.others(t) * step / t
        counted = np.flatnonzero(np.abs(amounts) > FAINT)[-1] + 1
        return np.stack([t[:counted], amounts[:counted]])


@dataclass(frozen=True)
class LawWithSquare(Law):
    """A normal variable, Laplace variables, and the square of another one less its mean, independent, added up.

    Parameters
    ----------
    mean : float
        Of the square.
    laplace : bool
        Whether it is a Laplace variable that is squared; else a normal one.
    """

    mean: float
    laplace: bool

    @property
    def deviation(self) -> float:
        """The standard deviation of the sum; that of a square is sqrt(5) or sqrt(2) times its mean."""
        return math.hypot(super().deviation, self.mean * math.sqrt(5 if self.laplace else 2))

    @property
    def normal(self) -> bool:
        """Whether the sum is a normal variable."""
        return self.mean == 0 and super().normal

    def others(self, t: Array) -> Array:
        """The real part of the characteristic function of all but the normal variable.

        The squares of a Laplace variable of scale b, and of a normal one of variance v, have

            E exp(i t X^2) = sqrt(pi) z w(i z),  z = 1 / (2 sqrt(-i t b^2)),   and   1 / sqrt(1 - 2 i t v),

        where w(i z) = exp(z^2) erfc(z): Abramowitz and Stegun 1964, 7.4.2, for the former.
        """
        if self.mean == 0:
            return super().others(t)
        rate = -1j * self.mean * t
        if self.laplace:
            z = 0.5 / np.sqrt(rate / 2)
            square = math.sqrt(math.pi) * z * wofz(1j * z)
        else:
            square = 1 / np.sqrt(1 + 2 * rate)
        return np.asarray(super().others(t) * (square * np.exp(rate)).real)
