"""Epsilon and delta of composed pairs, between certified bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from scipy.optimize import brentq

from discreet.accounting.composition import Composition
from discreet.accounting.directions import Direction
from discreet.accounting.planning import AtDelta, AtEpsilon, Plan, Tabulate, infinite, planned, summands
from discreet.accounting.tabulation import table_above, table_below

ACCURACY = 1.25e-5  # of epsilon, relative


def epsilon_above(directions: Sequence[Direction], delta: float, accuracy: float = ACCURACY) -> float:
    """Bound epsilon at this delta from above, for the worse of these directions."""
    return _worst(_epsilon_above, directions, delta, accuracy)


def delta_above(directions: Sequence[Direction], epsilon: float, accuracy: float = ACCURACY) -> float:
    """Bound delta at this epsilon from above, for the worse of these directions."""
    return _worst(_delta_above, directions, epsilon, accuracy)


def epsilon_below(directions: Sequence[Direction], delta: float, accuracy: float = ACCURACY) -> float:
    """Bound epsilon at this delta from below, for the worse of these directions."""
    return max((_epsilon_below(direction, delta, accuracy) for direction in directions if direction), default=0.0)


def delta_below(directions: Sequence[Direction], epsilon: float, accuracy: float = ACCURACY) -> float:
    """Bound delta at this epsilon from below, for the worse of these directions."""
    return max((_delta_below(direction, epsilon, accuracy) for direction in directions if direction), default=0.0)


def _worst(
    bound: Callable[[Direction, float, float], float], directions: Sequence[Direction], at: float, accuracy: float
) -> float:
    """The greatest bound; a direction that a coarse look shows to be no worse is not looked at more closely."""
    if len(directions) == 1:
        return bound(directions[0], at, accuracy)
    rough = sorted(((bound(d, at, 64 * accuracy), d) for d in directions), key=lambda pair: pair[0], reverse=True)
    found = 0.0
    for value, direction in rough:
        if value > found:
            found = max(found, bound(direction, at, accuracy))
    return found


def _composition(direction: Direction, plan: Plan, tabulate: Tabulate) -> Composition:
    return Composition(summands(direction, plan.step, plan.log_tail, tabulate), plan.tilt, plan.width)


def _epsilon_above(direction: Direction, delta: float, accuracy: float) -> float:
    if infinite(direction) >= delta:
        return math.inf
    plan = planned(direction, AtDelta(delta), accuracy)
    composition = _composition(direction, plan, table_above)

    def excess(epsilon: float) -> float:
        return composition.log_delta_above(epsilon) - math.log(delta)

    if excess(0.0) <= 0:
        return 0.0
    low, high = 0.0, plan.epsilon + 1 / plan.tilt
    while excess(high) > 0:
        low, high = high, 2 * high
        if high > 1e6 * (plan.epsilon + 1 / plan.tilt):
            return math.inf
    root = float(brentq(excess, low, high, xtol=1e-9 * high, rtol=1e-9))
    while excess(root) > 0:
        root += 1e-9 * high
    return root


def _epsilon_below(direction: Direction, delta: float, accuracy: float) -> float:
    plan = planned(direction, AtDelta(delta), accuracy)
    composition = _composition(direction, plan.finer(), table_below)

    def enough(epsilon: float) -> bool:
        return composition.log_delta_below(epsilon) >= math.log(delta)

    low, high, gap = plan.epsilon, plan.epsilon + 1 / plan.tilt, 0.1 / plan.tilt
    while not enough(low):
        if low == 0:
            return 0.0
        low, high, gap = max(0.0, low - gap), low, 2 * gap
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


def _delta_above(direction: Direction, epsilon: float, accuracy: float) -> float:
    if infinite(direction) > 1 - 1e-9:
        return 1.0
    plan = planned(direction, AtEpsilon(epsilon), accuracy)
    return math.exp(_composition(direction, plan, table_above).log_delta_above(epsilon))


def _delta_below(direction: Direction, epsilon: float, accuracy: float) -> float:
    plan = planned(direction, AtEpsilon(epsilon), accuracy)
    if epsilon >= sum(
        part.times * max(pair.reach(plan.log_tail).high for pair in part.alternatives) for part in direction
    ):
        return 0.0
    return math.exp(_composition(direction, plan.finer(), table_below).log_delta_below(epsilon))
