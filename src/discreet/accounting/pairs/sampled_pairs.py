"""Pairs made from pairs: swapped, and seen through a sample."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pairs.pairs import UNIT, Array, LossLattice, LossMasses, LossPair, Reach, negative

AT_ZERO = LossLattice(0.0, math.inf, False)


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
