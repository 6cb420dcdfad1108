"""The pair of a Poisson sample under replace neighbors: a record that may be in, with one contribution or another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri_exp

from discreet.accounting.pairs.pairs import UNIT, Array, LossMasses, Reach, normal_masses


@dataclass(frozen=True)
class ReplacedPair:
    """(1 - q) N(0, m^2) + q N(1/2, m^2) against (1 - q) N(0, m^2) + q N(-1/2, m^2), in units of the sensitivity.

    It dominates a sum over a Poisson sample with Gaussian noise, where each contribution is in the ball of half the
    sensitivity around zero and one record is replaced; `replaced_pair.md` has the proof. With A = (1 - q) / (q
    exp(-1 / (8 m^2))), the loss is l at x = m^2 (l + 2 asinh(A sinh(l / 2))), which grows with l, and the pair is its
    own mirror image.

    Parameters
    ----------
    multiplier : float
        Standard deviation of the noise, in units of the sensitivity.
    rate : float
        The chance of each record to be in the sample; below 1.

    Examples
    --------
    >>> ReplacedPair(1.0, 0.5).cells(np.array([0.0])).p.round(4)
    array([0.4043, 0.5957])
    """

    multiplier: float
    rate: float
    lattice: None = None

    def reach(self, log_tail: float) -> Reach:
        high = self._loss(0.5 - self.multiplier * float(ndtri_exp(log_tail)))
        return Reach(-high, high)

    def cells(self, edges: Array) -> LossMasses:
        places = self._places(edges)
        away, near, gone = (self._masses(places, shift) for shift in (0.5, -0.5, 0.0))
        p, p_error = (self.rate * one + (1 - self.rate) * none for one, none in zip(away, gone, strict=True))
        q, q_error = (self.rate * one + (1 - self.rate) * none for one, none in zip(near, gone, strict=True))
        return LossMasses(p, q, p_error + 4 * UNIT * p, q_error + 4 * UNIT * q)

    def swapped(self) -> ReplacedPair:
        return self

    @property
    def _log_ratio(self) -> float:
        """Ln A."""
        return math.log1p(-self.rate) - math.log(self.rate) + 1 / (8 * self.multiplier**2)

    def _loss(self, x: float) -> float:
        """The loss where the release is x."""
        shift = x / (2 * self.multiplier**2)
        return float(np.logaddexp(self._log_ratio, shift) - np.logaddexp(self._log_ratio, -shift))

    def _places(self, losses: Array) -> Array:
        """The releases with these losses; where the argument of asinh is huge, asinh is the logarithm of its double."""
        half = np.abs(losses) / 2
        with np.errstate(divide="ignore"):
            log_double = self._log_ratio + half + np.log(-np.expm1(-2 * half))
        bend = np.where(log_double < 300, np.arcsinh(np.exp(np.minimum(log_double, 300.0)) / 2), log_double)
        return np.copysign(2 * self.multiplier**2 * (half + bend), losses)

    def _masses(self, places: Array, shift: float) -> tuple[Array, Array]:
        """The masses of N(shift, m^2) between places whose rounding is that of the exponent in `_places`."""
        return normal_masses((places - shift) / self.multiplier, self.multiplier, 24 + 2 * abs(self._log_ratio))
