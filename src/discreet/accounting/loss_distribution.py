"""Epsilon and delta of composed pairs, between certified bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.accounting.composition import Composition
from discreet.accounting.directions import Direction
from discreet.accounting.planning import (
    AtDelta,
    AtEpsilon,
    CompositionPlan,
    ProfilePoint,
    Tabulate,
    finest_step,
    infinite,
    planned,
    summands,
)
from discreet.accounting.tabulation import table_above, table_below

ACCURACY = 1.25e-5  # of epsilon, relative
ROUGH = 64.0  # times less accurate is a first look
ATTEMPTS = 8
BLUR = 1e-6  # of delta, by images of the period


def epsilon_above(directions: Sequence[Direction], delta: float, accuracy: float = ACCURACY) -> float:
    """Bound epsilon at this delta from above, for the worse of these directions."""
    return _worst(directions, delta, accuracy, _epsilon_above, _epsilon_above)


def delta_above(directions: Sequence[Direction], epsilon: float, accuracy: float = ACCURACY) -> float:
    """Bound delta at this epsilon from above, for the worse of these directions."""
    return _worst(directions, epsilon, accuracy, _delta_above, _delta_above)


def epsilon_below(directions: Sequence[Direction], delta: float, accuracy: float = ACCURACY) -> float:
    """Bound epsilon at this delta from below, for the worse of these directions."""
    return _worst([direction for direction in directions if direction], delta, accuracy, _epsilon_above, _epsilon_below)


def delta_below(directions: Sequence[Direction], epsilon: float, accuracy: float = ACCURACY) -> float:
    """Bound delta at this epsilon from below, for the worse of these directions."""
    return _worst([direction for direction in directions if direction], epsilon, accuracy, _delta_above, _delta_below)


Bound = Callable[[Direction, float, float], float]


def _worst(directions: Sequence[Direction], at: float, accuracy: float, above: Bound, bound: Bound) -> float:
    """The greatest bound; a direction that a rough bound from above shows to be no worse is left alone."""
    if len(directions) == 1:
        return bound(directions[0], at, accuracy)
    rough = [(above(direction, at, ROUGH * accuracy), direction) for direction in directions]
    found = 0.0
    for most, direction in sorted(rough, key=lambda pair: pair[0], reverse=True):
        if most > found:
            found = max(found, bound(direction, at, accuracy))
    return found


def _composition(direction: Direction, plan: CompositionPlan, tabulate: Tabulate) -> Composition:
    tables = summands(direction, plan.step, plan.log_tail, tabulate)
    return Composition(tables, plan.tilt, plan.width, plan.beyond)


@dataclass(frozen=True)
class _Fit:
    """A plan that has proved fine enough, the composition that it made, and epsilon."""

    plan: CompositionPlan
    composition: Composition
    epsilon: float


def _fitted(direction: Direction, question: ProfilePoint, accuracy: float) -> _Fit:
    """Compose; and again where delta bends more, or the period's images weigh more, than the plan foresaw."""
    plan = planned(direction, question, accuracy)
    for attempt in range(ATTEMPTS):
        composition = _composition(direction, plan, table_above)
        epsilon = _root(composition, question.delta, plan) if isinstance(question, AtDelta) else plan.epsilon
        if isinstance(question, AtDelta) and epsilon in (0.0, math.inf):
            return _Fit(plan, composition, epsilon)
        better = plan.sharpened(min(plan.step, finest_step(direction, composition.rate(epsilon), epsilon, accuracy)))
        blur = composition.log_blur(epsilon) - math.log(BLUR)
        if (better.step > 0.75 * plan.step and blur < 0) or attempt == ATTEMPTS - 1:
            break
        plan = better.widened(blur + 1) if blur >= 0 else better
    return _Fit(plan, composition, epsilon)


def _root(composition: Composition, delta: float, plan: CompositionPlan) -> float:
    """The epsilon at which the bound on delta comes down to this delta."""
    from scipy.optimize import brentq  # loading it takes longer than opening a ledger, which seldom needs it

    def excess(epsilon: float) -> float:
        return composition.log_delta_above(epsilon) - math.log(delta)

    low, high = max(plan.epsilon - 1 / plan.tilt, 0.0), plan.epsilon + 1 / plan.tilt
    if excess(low) <= 0:
        low, high = 0.0, low
        if excess(low) <= 0:
            return 0.0
    while excess(high) > 0:
        low, high = high, 2 * high
        if high > 1e6 * (plan.epsilon + 1 / plan.tilt):
            return math.inf
    root = float(brentq(excess, low, high, xtol=1e-9 * high, rtol=1e-9))
    while excess(root) > 0:
        root += 1e-9 * high
    return root


def _epsilon_above(direction: Direction, delta: float, accuracy: float) -> float:
    if infinite(direction) >= delta:
        return math.inf
    return _fitted(direction, AtDelta(delta), accuracy).epsilon


def _delta_above(direction: Direction, epsilon: float, accuracy: float) -> float:
    if infinite(direction) > 1 - 1e-9:
        return 1.0
    return math.exp(_fitted(direction, AtEpsilon(epsilon), accuracy).composition.log_delta_above(epsilon))


def _epsilon_below(direction: Direction, delta: float, accuracy: float) -> float:
    if infinite(direction) >= delta:
        return math.inf
    fit = _fitted(direction, AtDelta(delta), accuracy)
    composition = _composition(direction, fit.plan.finer(), table_below)

    def enough(epsilon: float) -> bool:
        return composition.log_delta_below(epsilon) >= math.log(delta)

    low, high, gap = fit.epsilon, fit.epsilon + 1e-9, 1e-3 / fit.plan.tilt
    while not enough(low):
        if low == 0:
            return 0.0
        low, high, gap = max(0.0, low - gap), low, 2 * gap
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


def _delta_below(direction: Direction, epsilon: float, accuracy: float) -> float:
    plan = planned(direction, AtEpsilon(epsilon), accuracy)
    highest = [max(pair.reach(plan.log_tail).high for pair in part.alternatives) for part in direction]
    if epsilon >= sum(part.times * high for part, high in zip(direction, highest, strict=True)):
        return 0.0
    plan = _fitted(direction, AtEpsilon(epsilon), accuracy).plan
    return math.exp(_composition(direction, plan.finer(), table_below).log_delta_below(epsilon))
