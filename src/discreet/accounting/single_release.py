"""Epsilon and delta of a single release, straight from its pair: delta(eps) = P(loss > eps) - e^eps Q(loss > eps)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pairs.directions import Direction, Part
from discreet.accounting.pairs.pairs import LOSS_ROUNDING, UNIT, LossPair
from discreet.accounting.search import grown, narrowed

SMALLEST = 1e-305  # more than underflow can have lost
HIGHEST = 400.0
FARTHEST = 700.0  # epsilon whose exponential does not overflow; delta is no greater farther out


def is_single(direction: Direction) -> bool:
    """Whether nothing is composed, and no loss is so great that its exponential overflows."""
    if len(direction) != 1 or direction[0].times != 1:
        return False
    return all(pair.reach(math.log(SMALLEST)).high < HIGHEST for pair in direction[0].alternatives)


def single_delta_above(part: Part, epsilon: float) -> float:
    """Bound delta from above, for the worse of the alternatives."""
    epsilon = min(epsilon, FARTHEST)
    return max(min(1.0, found.delta + found.error) for found in (_found(pair, epsilon) for pair in part.alternatives))


def single_delta_below(part: Part, epsilon: float) -> float:
    """Bound delta from below, for the worse of the alternatives."""
    if epsilon > FARTHEST:
        return 0.0
    return max(max(0.0, found.delta - found.error) for found in (_found(pair, epsilon) for pair in part.alternatives))


def single_epsilon(part: Part, delta: float, bound: Callable[[Part, float], float]) -> float:
    """The epsilon at which a bound on delta comes down to this delta; from above if the bound is one from above."""
    low, high = 0.0, max(pair.reach(math.log(delta) - 1).high for pair in part.alternatives)
    if bound(part, low) <= delta:
        return 0.0

    def fits(epsilon: float) -> bool:
        return bound(part, epsilon) <= delta

    ends = grown(fits, low, max(high, LOSS_ROUNDING), 2 * HIGHEST, 1.5)
    if ends is None:
        return math.inf
    ends = narrowed(fits, ends, lambda ends: ends.high - ends.low <= 1e-9 * ends.high)
    return ends.high if bound is single_delta_above else ends.low


@dataclass(frozen=True)
class _Found:
    """Delta, give or take an error."""

    delta: float
    error: float


def _found(pair: LossPair, epsilon: float) -> _Found:
    """Losses are placed to within some rounding: whoever is on the wrong side of epsilon weighs that little."""
    cells = pair.cells(np.array([epsilon]))
    p, q = float(cells.p[-1]), math.exp(epsilon) * float(cells.q[-1])
    p_error, q_error = float(cells.p_error[-1]), math.exp(epsilon) * float(cells.q_error[-1])
    placing = 4 * LOSS_ROUNDING * (1 + abs(epsilon)) * max(p, q)
    return _Found(p - q, p_error + q_error + placing + 8 * UNIT * (p + q) * (1 + abs(epsilon)) + SMALLEST)
