"""Dominating pairs: two laws P and Q whose likelihood ratio is the worst that an event allows.

A pair is known by the masses that P and Q put on intervals of the privacy loss ln(P / Q). Composition, sampling and
tabulation need nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri_exp

from discreet.core.errors import ParameterError
from discreet.core.events import LossTable

Array = NDArray[np.float64]
UNIT = 2.0**-53
LOSS_ROUNDING = 2.0**-45  # losses are placed to within this much of 1 + |loss|


@dataclass(frozen=True)
class Reach:
    """Finite losses outside [low, high] have a mass too small to matter: above under P, below under Q.

    `below` is whether Q has mass where P has none, loss minus infinity, and `above` the reverse.
    """

    low: float
    high: float
    below: bool = False
    above: bool = False


@dataclass(frozen=True)
class LossMasses:
    """The masses of P and Q on consecutive intervals of loss, and how far rounding may have moved each."""

    p: Array
    q: Array
    p_error: Array
    q_error: Array

    def swapped(self) -> LossMasses:
        """The same for the pair (Q, P), whose loss is the negative."""
        return LossMasses(self.q[::-1], self.p[::-1], self.q_error[::-1], self.p_error[::-1])

    def joined(self, other: LossMasses, at: int) -> LossMasses:
        """These cells before index `at`, the other ones from there on."""
        mine, theirs = (self.p, self.q, self.p_error, self.q_error), (other.p, other.q, other.p_error, other.q_error)
        return LossMasses(*(np.concatenate([a[:at], b[at:]]) for a, b in zip(mine, theirs, strict=True)))


@dataclass(frozen=True)
class LossLattice:
    """Losses origin + k * spacing that carry atoms: all of the finite losses, if `whole`, or only the two ends."""

    origin: float
    spacing: float
    whole: bool


class LossPair(Protocol):
    """Two laws, seen through their loss. `lattice` says where atoms are, if there are any."""

    @property
    def lattice(self) -> LossLattice | None: ...

    def reach(self, log_tail: float) -> Reach:
        """The range of the loss, except for masses of exp(log_tail)."""
        ...

    def cells(self, edges: Array) -> LossMasses:
        """The masses below the first edge, between edges (the lower one included), and from the last edge on."""
        ...

    def swapped(self) -> LossPair:
        """(Q, P), or a pair with the same loss."""
        ...


@dataclass(frozen=True)
class GaussianPair:
    """N(1, m^2) against N(0, m^2); the loss is N(1 / (2 m^2), 1 / m^2) under P."""

    multiplier: float
    lattice: None = None

    def reach(self, log_tail: float) -> Reach:
        high = (0.5 / self.multiplier - float(ndtri_exp(log_tail))) / self.multiplier
        return Reach(-high, high)

    def cells(self, edges: Array) -> LossMasses:
        shift = 0.5 / self.multiplier
        p, p_error = self._masses(edges * self.multiplier - shift)
        q, q_error = self._masses(edges * self.multiplier + shift)
        return LossMasses(p, q, p_error, q_error)

    def swapped(self) -> GaussianPair:
        return self

    def _masses(self, z: Array) -> tuple[Array, Array]:
        return normal_masses(z, self.multiplier, 6.0)


@dataclass(frozen=True)
class LaplacePair:
    """Two Laplace laws: under P the loss is `epsilon` half of the time and has density e^((l - epsilon) / 2) / 4."""

    epsilon: float

    @property
    def lattice(self) -> LossLattice:
        return LossLattice(-self.epsilon, 2 * self.epsilon, False)

    def reach(self, log_tail: float) -> Reach:
        return Reach(-self.epsilon, self.epsilon)

    def cells(self, edges: Array) -> LossMasses:
        fuzz = LOSS_ROUNDING * (1 + self.epsilon)
        over, under = edges > self.epsilon + fuzz, edges <= fuzz - self.epsilon
        inside = np.clip(edges, -self.epsilon, self.epsilon)
        p_tails = np.where(over | under, 0.0, 0.5 * np.exp((inside - self.epsilon) / 2))
        q_tails = np.where(over | under, 0.0, 0.5 * np.exp(-(inside + self.epsilon) / 2))
        relative = UNIT * (8 + 2 * self.epsilon)
        p, p_error = _between(p_tails, over, relative * p_tails)
        q, q_error = _between(q_tails, ~under, relative * q_tails)
        return LossMasses(p, q, p_error, q_error)

    def swapped(self) -> LaplacePair:
        return self


@dataclass(frozen=True, eq=False)
class AtomsPair:
    """Finitely many losses; P may also have mass where Q has none (loss infinity), and Q where P has none."""

    losses: Array
    p: Array
    q: Array
    p_alone: float
    q_alone: float
    lattice: LossLattice | None = None

    @classmethod
    def of_response(cls, epsilon: float, delta: float) -> AtomsPair:
        """Randomized response, the worst of (epsilon, delta) promises (Kairouz, Oh and Viswanath 2015)."""
        often = (1 - delta) / (1 + math.exp(-epsilon))
        seldom = (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))
        losses, p = np.array([-epsilon, epsilon]), np.array([seldom, often])
        lattice = LossLattice(-epsilon, 2 * epsilon, True) if epsilon > 0 else None
        return cls(losses, p, p[::-1], delta, delta, lattice)

    @classmethod
    def of_table(cls, step: float, table: LossTable) -> AtomsPair:
        """A tabulated loss. Mass that is missing, beyond rounding, counts as infinite loss."""
        p = np.array(table.probabilities)
        losses = (table.first + np.arange(len(p), dtype=np.float64)) * step
        if not (p >= 0).all():
            raise ParameterError("price", "a table of losses holds what is no probability", "Give at least 0.")
        total = math.fsum(p)
        missing = 1 - total - table.infinity
        infinity = table.infinity + (missing if missing > 1e-12 else 0.0)
        p = p[p > 0] * (max(1.0, (1 - infinity) / total) if total > 0 else 1.0)  # none, where all of it is infinite
        losses = losses[np.array(table.probabilities) > 0]
        q = p * np.exp(-losses)
        return cls(losses, p, q, infinity, max(0.0, 1 - math.fsum(q)), LossLattice(0.0, step, True))

    def reach(self, log_tail: float) -> Reach:
        if not len(self.losses):
            return Reach(0.0, 0.0, self.q_alone > 0, self.p_alone > 0)
        low, high = float(self.losses.min()), float(self.losses.max())
        return Reach(low, high, self.q_alone > 0, self.p_alone > 0)

    def cells(self, edges: Array) -> LossMasses:
        nudged = self.losses + LOSS_ROUNDING * (1 + np.abs(self.losses))
        places, count = np.searchsorted(edges, nudged, side="right"), len(edges) + 1
        p, q = (np.bincount(places, mass, count).astype(np.float64) for mass in (self.p, self.q))
        p[-1] += self.p_alone
        q[int(np.count_nonzero(edges == -np.inf))] += self.q_alone
        return LossMasses(p, q, 64 * UNIT * p, 64 * UNIT * q)

    def swapped(self) -> AtomsPair:
        return AtomsPair(-self.losses, self.q, self.p, self.q_alone, self.p_alone, negative(self.lattice))

    def without_zero(self) -> AtomsPair:
        """The pair without its outcomes of loss 0, which show nothing."""
        kept = np.abs(self.losses) > LOSS_ROUNDING
        return replace(self, losses=self.losses[kept], p=self.p[kept], q=self.q[kept])


def negative(lattice: LossLattice | None) -> LossLattice | None:
    """The lattice of the negative losses."""
    return lattice and LossLattice(-lattice.origin, lattice.spacing, lattice.whole)


def normal_masses(z: Array, multiplier: float, units: float) -> tuple[Array, Array]:
    """Masses of the normal law between these edges, and how far rounding may have moved them.

    An edge z = (x - shift) / multiplier, |shift| <= 1, has an error of at most some units in the last place of x.
    """
    size = np.abs(z)
    tails = ndtr(-size)
    size[np.isinf(size)] = 0.0
    relative = UNIT * (16 + units * (size + 1) * (size + 1 / multiplier))
    return _between(tails, z > 0, relative * tails)


def _between(tails: Array, upper: NDArray[np.bool_], errors: Array) -> tuple[Array, Array]:
    """Masses between edges at which the lower tail, or where `upper` the upper one, has these masses and errors.

    Each difference is taken within one tail, so that small masses keep their precision.
    """
    signed = np.concatenate([[0.0], np.where(upper, -tails, tails), [0.0]])
    masses = np.diff(signed)
    masses[int(np.count_nonzero(~upper))] += 1.0
    padded = np.concatenate([[0.0], errors, [0.0]])
    return np.maximum(masses, 0.0), padded[:-1] + padded[1:] + 2 * UNIT * masses
