"""Pairs made from pairs: swapped, and seen through a sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri, ndtri_exp

from discreet.accounting.pairs.pairs import (
    UNIT,
    Array,
    GaussianPair,
    LossLattice,
    LossMasses,
    LossPair,
    Reach,
    negative,
    normal_masses,
)
from discreet.accounting.search import Ends, grown, narrowed

AT_ZERO = LossLattice(0.0, math.inf, False)
SAFE = 1e-12  # more than rounding
LOUDEST = 2.0**10  # times the usual: beyond, all losses are moved to 0, and nothing is witnessed


@dataclass(frozen=True)
class SwappedPair:
    """(Q, P)."""

    pair: LossPair

    @property
    def lattice(self) -> LossLattice | None:
        return negative(self.pair.lattice)

    def reach(self, log_tail: float) -> Reach:
        reach = self.pair.reach(log_tail)
        return Reach(-reach.high, -reach.low, reach.above, reach.below)

    def cells(self, edges: Array) -> LossMasses:
        return self.pair.cells(-edges[::-1]).swapped()

    def swapped(self) -> LossPair:
        return self.pair


@dataclass(frozen=True)
class MixturePair:
    """((1 - rate) Q + rate P, Q): a unit that is there with probability `rate`, against one that is not.

    The loss is ln(1 - rate + rate e^l), which grows with l, so cells go back to cells of the pair.
    Zhu, Dong and Wang 2022, Theorem 11 (Poisson, removal); the swapped pairs give the addition.
    """

    pair: LossPair
    rate: float

    @property
    def lattice(self) -> LossLattice | None:
        inner, ends = self.pair.lattice, self.pair.reach(0.0)
        if inner is None or inner.spacing < ends.high - ends.low:
            return None
        low, high = self._mixed(ends.low), self._mixed(ends.high)
        return LossLattice(low, high - low, inner.whole and not ends.below)

    def reach(self, log_tail: float) -> Reach:
        reach = self.pair.reach(log_tail)
        low = self._mixed(-math.inf if reach.below else reach.low)
        return Reach(low, self._mixed(reach.high), False, reach.above)

    def cells(self, edges: Array) -> LossMasses:
        base, rate = self.pair.cells(self._unmixed(edges)), self.rate
        return LossMasses(
            (1 - rate) * base.q + rate * base.p,
            base.q,
            (1 - rate) * base.q_error + rate * base.p_error + 4 * UNIT * (base.p + base.q),
            base.q_error,
        )

    def swapped(self) -> SwappedPair:
        return SwappedPair(self)

    def _mixed(self, loss: float) -> float:
        return float(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + loss))

    def _unmixed(self, losses: Array) -> Array:
        """ln((e^l - (1 - rate)) / rate), written so that an error of the result is one of u |l| in l."""
        above = np.maximum(losses - math.log1p(-self.rate), 0.0)
        with np.errstate(divide="ignore"):
            return above + np.log(-np.expm1(-above)) + (math.log1p(-self.rate) - math.log(self.rate))


@dataclass(frozen=True)
class SubsetPair:
    """The worst of a sample of fixed size under replace neighbors.

    Its profile is that of ((1 - rate) Q + rate P, Q) for positive losses and that of (P, (1 - rate) P + rate Q) for
    negative ones (Zhu, Dong and Wang 2022, Theorem 11); the two meet at loss 0, where the rest of the mass lies. (P, Q)
    must dominate in both directions and have no atom at loss 0, and 0 must be one of the edges asked for.

    Losses of (P, Q) up to `quiet`, in size, may be moved to 0: that is a bound from below.
    """

    pair: LossPair
    rate: float
    quiet: float = 0.0
    lattice: LossLattice = AT_ZERO

    def reach(self, log_tail: float) -> Reach:
        gains, losses = removal(self.pair, self.rate), addition(self.pair, self.rate)
        low, high = losses.reach(log_tail), gains.reach(log_tail)
        return Reach(low.low, high.high, low.below, high.above)

    def cells(self, edges: Array) -> LossMasses:
        nearest = math.log1p(self.rate * math.expm1(self.quiet))
        gains = removal(self.pair, self.rate).cells(np.maximum(edges, nearest))
        losses = addition(self.pair, self.rate).cells(np.minimum(edges, -nearest))
        middle = int(np.searchsorted(edges, 0.0, side="right"))
        joined = losses.joined(gains, middle)
        rest = max(0.0, 1 - math.fsum(joined.p))
        for masses, errors in ((joined.p, joined.p_error), (joined.q, joined.q_error)):
            masses[middle] += rest
            errors[middle] += 16 * UNIT
        return joined

    def swapped(self) -> SwappedPair:
        return SwappedPair(self)


def removal(pair: LossPair, rate: float) -> LossPair:
    """The pair of a Poisson sample against one that cannot hold the unit: ((1 - rate) Q + rate P, Q)."""
    return MixturePair(pair, rate)


def addition(pair: LossPair, rate: float) -> LossPair:
    """The pair of a sample that cannot hold the unit against one that may: (P, (1 - rate) P + rate Q)."""
    return MixturePair(pair.swapped(), rate).swapped()


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


def subset_witness(multiplier: float, rate: float) -> SubsetPair:
    """The pair of samples of fixed size of a release that keeps the Gaussian promise.

    Examples
    --------
    >>> round(subset_witness(1.0, 0.1).quiet, 3)
    0.303
    """
    return SubsetPair(GaussianPair(multiplier), rate, quiet=_least_quiet(multiplier))


@lru_cache(maxsize=256)
def _least_quiet(multiplier: float) -> float:
    def fits(quiet: float) -> bool:
        return keeps_promise(multiplier, quiet)

    likely = 0.5 / multiplier**2 + 1 / multiplier
    ends = grown(fits, 0.0, likely, LOUDEST * likely)
    if ends is None:
        return math.inf
    return narrowed(fits, Ends(0.0, ends.high), lambda ends: ends.high - ends.low <= 1e-6 * ends.high).high


def keeps_promise(multiplier: float, quiet: float) -> bool:
    """Whether C against A is within the Gaussian profile where it comes nearest."""
    shift = 0.5 / multiplier
    p, q = float(ndtr(shift - quiet * multiplier)), float(ndtr(-shift - quiet * multiplier))
    common, apart = 1 - p - q, 1 - 2 * q
    if common <= 0:
        return False
    nearest = max(0.0, (-float(ndtri(common)) - shift) / multiplier)
    profile = float(ndtr(shift - nearest * multiplier)) - math.exp(nearest) * float(ndtr(-shift - nearest * multiplier))
    return apart - math.exp(nearest) * common <= profile - SAFE
