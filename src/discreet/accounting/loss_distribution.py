"""Epsilon and delta of composed pairs, between certified bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.accounting.composition import Composition
from discreet.accounting.jumps import CompositionWithJumps, Jumping, Profile, jumps_above, jumps_below
from discreet.accounting.pairs.directions import Direction
from discreet.accounting.pairs.pairs import Array
from discreet.accounting.pairs.tabulation import table_above, table_below
from discreet.accounting.planning import (
    CompositionPlan,
    finest_step,
    infinite,
    planned,
    planned_with_jumps,
    shorter_with_jumps,
    summands,
    without_infinity,
)
from discreet.accounting.search import HALVINGS, Ends, grown
from discreet.accounting.single_release import is_single, single_delta_above, single_delta_below, single_epsilon
from discreet.accounting.tilted_frame import AtDelta, AtEpsilon, ProfilePoint, TiltedFrame
from discreet.accounting.tilting import Summand

ACCURACY = 1.25e-5  # of epsilon, relative
ROUGH = 64.0  # times less accurate is a first look
ATTEMPTS = 8
FARTHEST = 1e6  # times the epsilon that is planned for: beyond, there is none
FEW = 3  # attempts of a first look, which need not be close
BLUR = 1e-6  # of delta, by images of the period
EXCESS = 1e-5  # of delta, by rounding or by several jumps
LOOSE = 2e-3  # of epsilon: where its bounds are farther apart, coarser tables are looked at, too
COARSER = (6.0, 12.0, 24.0, 64.0)  # times
POINTS = 600  # of a curve
SEEN = (0.05, 6)  # the greatest delta that a curve is made to see well, and how many it sees best


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


@dataclass(frozen=True, eq=False)
class DeltaCurve:
    """Bounds on delta from above at epsilons from 0 on."""

    losses: Array
    deltas: Array


def curve_above(direction: Direction, level: float) -> DeltaCurve | None:
    """Bound delta from above, from epsilon 0 to where it comes down to this level; None if it never does."""
    if infinite(direction) >= level / 2:
        return None
    if is_single(direction):
        losses = np.linspace(0.0, single_epsilon(direction[0], level, single_delta_above), POINTS)
        return DeltaCurve(losses, np.array([single_delta_above(direction[0], float(loss)) for loss in losses]))
    found = [_known(direction, AtDelta(delta), ROUGH * ACCURACY, FEW) for delta in np.geomspace(level, *SEEN).tolist()]
    fits = [fit for fit in found if fit is not None]
    if len(fits) < len(found):
        return None
    losses = np.linspace(0.0, max(fit.epsilon for fit in fits), POINTS)
    logs = [fit.composition.log_deltas_above(losses) for fit in fits]
    return DeltaCurve(losses, np.exp(np.minimum.reduce(logs)))


Bound = Callable[[Direction, float, float], float]
Look = Callable[[Direction, float, float, int], float]


def _worst(directions: Sequence[Direction], at: float, accuracy: float, above: Look, bound: Bound) -> float:
    """The greatest bound; a direction that a rough bound from above shows to be no worse is left alone."""
    if len(directions) == 1:
        return bound(directions[0], at, accuracy)
    rough = [(above(direction, at, ROUGH * accuracy, FEW), direction) for direction in directions]
    found = 0.0
    for most, direction in sorted(rough, key=lambda pair: pair[0], reverse=True):
        if most > found:
            found = max(found, bound(direction, at, accuracy))
    return found


def _composition(direction: Direction, plan: CompositionPlan, above: bool) -> Composition | CompositionWithJumps:
    tabulate = table_above if above else table_below
    tables = summands(direction, plan.step, plan.log_tail, tabulate, plan.window)
    if not plan.beside:
        return _framed(tables, plan.frame)
    steady = [without_infinity(summand) for summand in tables]
    jumping = []
    for index, part in enumerate(direction):
        top = float(steady[index].table.losses[-1])
        jumps = (jumps_above if above else jumps_below)(part.alternatives[0], part.times, top, plan.log_tail)
        others = [replace(each, times=each.times - (place == index)) for place, each in enumerate(steady)]
        seen = [_framed([each for each in others if each.times], frame) for frame in plan.beside]
        jumping.append(Jumping(jumps, [(Profile.above if above else Profile.below)(each) for each in seen]))
    return CompositionWithJumps(_framed(steady, plan.frame), jumping)


def _framed(tables: Sequence[Summand], frame: TiltedFrame) -> Composition:
    return Composition(tables, frame.tilt, frame.width, frame.beyond)


@dataclass(frozen=True)
class _Fit:
    """A plan that has proved fine enough, the composition that it made, and epsilon."""

    plan: CompositionPlan
    composition: Composition | CompositionWithJumps
    epsilon: float


def _fitted(direction: Direction, question: ProfilePoint, accuracy: float, attempts: int = ATTEMPTS) -> _Fit:
    """Compose; and again where delta bends more, or images or rounding weigh more, than the plan foresaw."""
    plan = planned(direction, question, accuracy)
    for attempt in range(attempts):
        composition = _composition(direction, plan, True)
        epsilon = _root(composition, question.delta, plan) if isinstance(question, AtDelta) else plan.epsilon
        if isinstance(question, AtDelta) and epsilon in (0.0, math.inf):
            return _Fit(plan, composition, epsilon)
        log_delta = max(composition.log_delta_above(epsilon), -700.0)
        if composition.log_excess(epsilon) > math.log(EXCESS):
            apart = planned_with_jumps(direction, question, accuracy, log_delta)
            if apart is not None and apart != plan:
                plan = apart
                continue
        better = plan.sharpened(min(plan.step, finest_step(direction, composition.rate(epsilon), epsilon, accuracy)))
        apart = shorter_with_jumps(direction, question, accuracy, log_delta, better)
        if apart is not better:
            plan = apart
            continue
        blur = composition.log_images(epsilon) - log_delta - math.log(BLUR)
        if (better.step > 0.75 * plan.step and blur < 0) or attempt == attempts - 1:
            break
        plan = better.widened(blur + 1) if blur >= 0 else better
    return _Fit(plan, composition, epsilon)


def _known(direction: Direction, question: ProfilePoint, accuracy: float, attempts: int = ATTEMPTS) -> _Fit | None:
    """The same; None where numbers are so small, or so far apart, that floats do not hold what they come to."""
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return _fitted(direction, question, accuracy, attempts)
    except (ArithmeticError, ValueError):
        return None


def _root(composition: Composition | CompositionWithJumps, delta: float, plan: CompositionPlan) -> float:
    """The epsilon at which the bound on delta comes down to this delta."""
    from scipy.optimize import brentq  # loading it takes longer than opening a ledger, which seldom needs it

    def excess(epsilon: float) -> float:
        return composition.log_delta_above(epsilon) - math.log(delta)

    low, high = max(plan.epsilon - 1 / plan.tilt, 0.0), plan.epsilon + 1 / plan.tilt
    if excess(low) <= 0:
        low, high = 0.0, low
        if excess(low) <= 0:
            return 0.0
    ends = grown(lambda epsilon: excess(epsilon) <= 0, low, high, FARTHEST * (plan.epsilon + 1 / plan.tilt))
    if ends is None:
        return math.inf
    low, high = ends.low, ends.high
    root = float(brentq(excess, low, high, xtol=1e-9 * high, rtol=1e-9))
    found = grown(lambda back: excess(root + back * high) <= 0, 0.0, 1e-9, 1.0) if excess(root) > 0 else Ends(0.0, 0.0)
    return high if found is None else root + found.high * high


def _epsilon_above(direction: Direction, delta: float, accuracy: float, attempts: int = ATTEMPTS) -> float:
    if infinite(direction) >= delta:
        return math.inf
    if is_single(direction):
        return single_epsilon(direction[0], delta, single_delta_above)
    fit = _known(direction, AtDelta(delta), accuracy, attempts)
    return math.inf if fit is None else fit.epsilon


def _delta_above(direction: Direction, epsilon: float, accuracy: float, attempts: int = ATTEMPTS) -> float:
    if infinite(direction) > 1 - 1e-9:
        return 1.0
    if is_single(direction):
        return single_delta_above(direction[0], epsilon)
    fit = _known(direction, AtEpsilon(epsilon), accuracy, attempts)
    return 1.0 if fit is None else math.exp(fit.composition.log_delta_above(epsilon))


def _epsilon_below(direction: Direction, delta: float, accuracy: float) -> float:
    if infinite(direction) >= delta:
        return math.inf
    if is_single(direction):
        return single_epsilon(direction[0], delta, single_delta_below)
    found = 0.0
    for times in (1.0, *COARSER):  # of very many releases, finer tables round more often, and that may weigh more
        fit = _fitted(direction, AtDelta(delta), times * accuracy)
        composition = _lower_composition(direction, fit.plan, fit.epsilon, math.log(delta))
        found = max(found, _root_below(composition, delta, fit))
        if found >= (1 - LOOSE) * fit.epsilon:
            break
    return found


def _root_below(composition: Composition | CompositionWithJumps, delta: float, fit: _Fit) -> float:
    """An epsilon at which the bound from below on delta is still at least this delta."""
    from scipy.optimize import brentq  # loading it takes longer than opening a ledger, which seldom needs it

    def excess(epsilon: float) -> float:
        return max(composition.log_delta_below(epsilon) - math.log(delta), -1e3)

    low, high, gap = fit.epsilon, fit.epsilon * (1 + 1e-9), 1e-3 / fit.plan.tilt
    for _ in range(HALVINGS):
        if low == 0 or excess(low) >= 0:
            break
        low, high, gap = max(0.0, low - gap), low, 4 * gap
    if excess(low) < 0:
        return 0.0
    if excess(high) >= 0:
        return high
    root, back = float(brentq(excess, low, high, xtol=1e-9 * high, rtol=1e-9)), 1e-9 * high
    for _ in range(HALVINGS):
        if excess(root) >= 0:
            return root
        root, back = max(low, root - back), 2 * back
    return low


def _delta_below(direction: Direction, epsilon: float, accuracy: float) -> float:
    if is_single(direction):
        return single_delta_below(direction[0], epsilon)
    plan = planned(direction, AtEpsilon(epsilon), accuracy)
    highest = [max(pair.reach(plan.log_tail).high for pair in part.alternatives) for part in direction]
    if epsilon >= sum(part.times * high for part, high in zip(direction, highest, strict=True)):
        return 0.0
    fit = _fitted(direction, AtEpsilon(epsilon), accuracy)
    log_delta = fit.composition.log_delta_above(epsilon)
    return math.exp(_lower_composition(direction, fit.plan, epsilon, log_delta).log_delta_below(epsilon))


def _lower_composition(
    direction: Direction, plan: CompositionPlan, epsilon: float, log_delta: float
) -> Composition | CompositionWithJumps:
    """Compose tables below, with a period whose images do not weigh at this epsilon."""
    composition = _composition(direction, plan.finer(), False)
    blur = composition.log_images(epsilon) - max(log_delta, -700.0) - math.log(BLUR)
    return composition if blur < 0 else _composition(direction, plan.widened(blur + 1).finer(), False)
