"""Rare large losses beside a composition.

Where one large loss makes up delta, no tilt brings it forward without bringing still greater ones further forward, and
the rounding of a transform hides it. So the losses above a cut are kept apart. With low the law of a loss up to the
cut, high that above it (masses, not scaled), T the count of releases and delta_X the profile of a law X,

    delta(eps) = sum over k of C(T, k) delta_(low^(T - k) high^k)(eps).

- *No jump*: `low` is bounded, and its composition under a tilt of its own is precise.
- *One jump*: T sum over x of high(x) delta_(low^(T - 1))(eps - x), a sum of positive terms. The profile comes from one
  inverse transform per tilt, at all points of the lattice. It is convex in e^eps, so chords bound it from above, and it
  falls, so the next point bounds it from below.
- *Several jumps* have a probability of at most (T high)^2 / 2: all of it counts as infinite loss, or as none. The
  cut is where that is a small share of delta.

The jumps need no lattice: a jump happens once, so that its rounding is not multiplied by T.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.accounting.composition import Composition, fall_rate
from discreet.accounting.pairs.pairs import LOSS_ROUNDING, Array, LossPair
from discreet.accounting.pairs.tabulation import connected
from discreet.accounting.tilting import log_moment

SPACING = 5e-4  # between jumps, of their size
LEAST = 1e-305  # more than all that underflow can have lost
ROUNDING = 2.0**-36  # of a sum of positive terms, and of its terms


@dataclass(frozen=True, eq=False)
class Jumps:
    """The losses above a cut, the masses that one release puts on them, how many releases do, and infinite loss."""

    losses: Array
    masses: Array
    infinity: float
    times: int

    @property
    def rate(self) -> float:
        """How many jumps to expect."""
        return self.times * float(self.masses.sum())


def _edges(pair: LossPair, cut: float, log_tail: float) -> Array:
    top = max(pair.reach(log_tail).high * (1 + SPACING), cut * (1 + SPACING))
    return np.geomspace(cut, top, 2 + math.ceil(math.log(top / cut) / SPACING))


def jumps_above(pair: LossPair, times: int, cut: float, log_tail: float) -> Jumps:
    """Jumps that dominate the pair's: dots connected between edges in geometric progression."""
    edges = _edges(pair, cut, log_tail)
    edges[0] = cut
    cells = pair.cells(edges)
    slack = LOSS_ROUNDING * (1 + edges)
    masses = connected(cells, edges, np.diff(edges))
    return Jumps(edges + slack, masses, float(cells.p[-1] + cells.p_error[-1]), times)


def jumps_below(pair: LossPair, times: int, cut: float, log_tail: float) -> Jumps:
    """Jumps that the pair's dominate: each cell merged into one outcome."""
    edges = _edges(pair, cut, log_tail)
    edges[0] = cut
    cells = pair.cells(edges)
    p, q = np.maximum(cells.p[1:-1] - cells.p_error[1:-1], 0.0), cells.q[1:-1] + cells.q_error[1:-1]
    kept = p > 1e-290
    losses = np.log(p[kept]) - np.log(np.maximum(q[kept], LEAST))
    return Jumps(losses - LOSS_ROUNDING * (1 + np.abs(losses)), p[kept], 0.0, times)


@dataclass(frozen=True, eq=False)
class Profile:
    """Values at losses start, start + step, ...: the profile is at most, or at least, that much there.

    Below `start` it is at most 1 - exp(loss + end), or at least end - exp(loss).
    """

    start: float
    step: float
    values: Array
    end: float

    @classmethod
    def above(cls, composition: Composition) -> Profile:
        """Bounds from above at the lattice, moved by the slack of the losses.

        Where images weigh, on the left, a chord from the value 1 at e^loss = 0 to a point on the right is lower.
        """
        found = composition.profile_above()
        start = found.start + composition.slack
        values = np.minimum.accumulate(np.minimum(found.values, 1.0))
        losses = start + composition.step * np.arange(len(values))
        with np.errstate(divide="ignore"):
            steepest = np.maximum.accumulate((np.log1p(-values) - losses)[::-1])[::-1]
        chords = -np.expm1(np.minimum(losses + steepest, 0.0)) + ROUNDING
        return cls(start, composition.step, np.minimum(values, chords), float(steepest[0]))

    @classmethod
    def below(cls, composition: Composition) -> Profile:
        """Bounds from below at the lattice, moved by the slack of the losses; at least the mass less e^loss."""
        found = composition.profile_below()
        start = found.start - composition.slack
        values = np.maximum.accumulate(np.maximum(found.values, 0.0)[::-1])[::-1]
        losses = start + composition.step * np.arange(len(values))
        mass = math.exp(log_moment(composition.summands, 0.0)) * (1 - ROUNDING)
        return cls(start, composition.step, np.maximum(values, mass - np.exp(np.minimum(losses, 700.0))), mass)

    def at_most(self, losses: Array) -> Array:
        """Bounds from above at any losses: chords in e^loss."""
        places = losses - self._fuzz(losses) - self.start
        found = places / self.step
        np.clip(np.floor(found, out=found), 0, len(self.values) - 2, out=found)
        index = found.astype(np.int64)
        np.subtract(places, np.multiply(found, self.step, out=found), out=found)
        np.expm1(np.clip(found, 0.0, self.step, out=found), out=found)  # within a step, whose share of e^loss this is
        inside = self.values[index] + found / math.expm1(self.step) * self._rises[index]
        left = np.flatnonzero(places < 0)
        inside[left] = -np.expm1(np.minimum(losses[left] + self.end, 0.0)) + ROUNDING
        return np.asarray(inside)

    @cached_property
    def _rises(self) -> Array:
        """From each value to the next."""
        return np.diff(self.values)

    def at_least(self, losses: Array) -> Array:
        """Bounds from below at any losses: the value at the next point."""
        places = np.ceil((losses + self._fuzz(losses) - self.start) / self.step)
        index = np.clip(places, 0, len(self.values) - 1).astype(np.int64)
        inside = np.where(places < len(self.values), self.values[index], 0.0)
        return np.where(places < 0, np.maximum(self.end - np.exp(np.minimum(losses, 700.0)), inside), inside)

    def _fuzz(self, losses: Array) -> Array:
        return LOSS_ROUNDING * (1 + abs(self.start) + np.abs(losses))


@dataclass(frozen=True, eq=False)
class Jumping:
    """The jumps of one part, and the other releases' composition under several tilts."""

    jumps: Jumps
    others: Sequence[Profile]

    def delta_above(self, epsilon: float) -> float:
        away = epsilon - self.jumps.losses
        found = np.minimum.reduce([profile.at_most(away) for profile in self.others])
        return self.jumps.times * float(self.jumps.masses @ found) * (1 + ROUNDING)

    def delta_below(self, epsilon: float) -> float:
        away = epsilon - self.jumps.losses
        found = np.maximum.reduce([profile.at_least(away) for profile in self.others])
        return self.jumps.times * float(self.jumps.masses @ found) * (1 - ROUNDING)


class CompositionWithJumps:
    """A composition of the losses up to a cut, and the jumps beside it.

    Parameters
    ----------
    steady : Composition
        Of the losses up to the cut, without infinite ones.
    jumping : sequence of Jumping
        One per part that has losses above the cut.
    """

    def __init__(self, steady: Composition, jumping: Sequence[Jumping]) -> None:
        self.steady, self.jumping = steady, jumping
        self.several = sum(part.jumps.rate for part in jumping) ** 2 / 2 * (1 + ROUNDING)
        kept = sum(part.jumps.times * math.log1p(-part.jumps.infinity) for part in jumping)
        self.infinity = -math.expm1(kept) * (1 + ROUNDING)

    def log_delta_above(self, epsilon: float) -> float:
        once = math.fsum(part.delta_above(epsilon) for part in self.jumping)
        steady = math.exp(self.steady.log_delta_above(epsilon))
        return min(0.0, math.log(steady + once + self.several + self.infinity + LEAST) + ROUNDING)

    def log_deltas_above(self, epsilons: Array) -> Array:
        """The same at many epsilons; see `Composition.log_deltas_above`."""
        once = np.array(
            [math.fsum([part.delta_above(epsilon) for part in self.jumping]) for epsilon in epsilons.tolist()]
        )
        found = np.exp(self.steady.log_deltas_above(epsilons)) + once + self.several + self.infinity + LEAST
        return np.minimum(0.0, np.log(found) + ROUNDING)

    def log_delta_below(self, epsilon: float) -> float:
        once = math.fsum(part.delta_below(epsilon) for part in self.jumping)
        found = (math.exp(self.steady.log_delta_below(epsilon)) + once) * (1 - ROUNDING) - LEAST
        return math.log(found) if found > 0 else -math.inf

    def rate(self, epsilon: float) -> float:
        return fall_rate(self.log_delta_above, epsilon, self.steady.step, 0.0)

    def log_images(self, epsilon: float) -> float:
        """The logarithm of the most that images can have added to the part without jumps."""
        return self.steady.log_images(epsilon)

    def log_excess(self, epsilon: float) -> float:
        """The logarithm of what several jumps and rounding add to delta, as a share of it."""
        return math.log(self.several + LEAST) - max(self.log_delta_above(epsilon), -700.0)
