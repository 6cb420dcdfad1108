"""How finely to compute a composition: chosen from a coarse look at it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from discreet.accounting.composition import Composition, Summand, log_moment, tilted_variance
from discreet.accounting.directions import Direction
from discreet.accounting.pairs import UNIT, LossPair
from discreet.accounting.tabulation import TabulatedLoss, envelope, table_above

MARGIN = 16.0  # tails that are cut off hold less than exp(-MARGIN) of delta
IMAGES = 18.0  # periodic images add less than exp(-IMAGES) of delta
CELLS = 4096  # of the coarse look
SCAN = 20  # tilts of the first look
SHARES = (1.0, 0.85, 0.7)  # of the best tilt: where a tail is heavy, a smaller one needs a shorter period
LONGEST = 2**23  # of a period, in steps
SMALLEST = -690.0  # deltas below exp of this are not distinguished

Tabulate = Callable[[LossPair, float, float, float], TabulatedLoss]


class ProfilePoint(Protocol):
    """Epsilon at some delta, or delta at some epsilon.

    The answers are estimates by the saddle point: delta is about exp(height - tilt * epsilon), where the height is the
    log moment less the logarithm of (1 + tilt) (1 + 2.5 * tilt * spread).
    """

    def objective(self, height: float, tilt: float, infinity: float) -> float:
        """What the best tilt minimises."""
        ...

    def epsilon(self, height: float, tilt: float, infinity: float) -> float: ...

    def log_delta(self, height: float, tilt: float, infinity: float) -> float: ...


@dataclass(frozen=True)
class AtDelta:
    """Which epsilon goes with this delta?"""

    delta: float

    def objective(self, height: float, tilt: float, infinity: float) -> float:
        return (height - self.log_delta(height, tilt, infinity)) / tilt

    def epsilon(self, height: float, tilt: float, infinity: float) -> float:
        return max(0.0, self.objective(height, tilt, infinity))

    def log_delta(self, height: float, tilt: float, infinity: float) -> float:
        return math.log(max(self.delta - infinity, 1e-300))


@dataclass(frozen=True)
class AtEpsilon:
    """Which delta goes with this epsilon?"""

    at: float

    def objective(self, height: float, tilt: float, infinity: float) -> float:
        return height - tilt * self.at

    def epsilon(self, height: float, tilt: float, infinity: float) -> float:
        return self.at

    def log_delta(self, height: float, tilt: float, infinity: float) -> float:
        return min(0.0, max(SMALLEST, height - tilt * self.at))


@dataclass(frozen=True)
class CompositionPlan:
    """How to compose.

    The tilt, the lattice's step, the period, the tilt at which the period's images on the right are bounded, the
    logarithm of the tails to cut off, about where epsilon is, and how far the losses of one release span.
    """

    tilt: float
    step: float
    width: float
    beyond: float
    log_tail: float
    epsilon: float
    span: float

    def sharpened(self, step: float) -> CompositionPlan:
        """The plan with this step, as far as there is room for it."""
        return replace(self, step=max(step, self.width / LONGEST, self.span / LONGEST))

    def widened(self, log_excess: float) -> CompositionPlan:
        """The plan with a longer period, so that the images shrink by exp(-log_excess)."""
        return replace(self, width=self.width + log_excess / min(self.tilt, self.beyond - self.tilt))

    def finer(self) -> CompositionPlan:
        """The plan with a step half as long, or less while that is cheap."""
        return replace(self, step=self.step / min(64, max(2, int(2**15 * self.step / max(self.width, self.span)))))


def summands(direction: Direction, step: float, log_tail: float, tabulate: Tabulate) -> list[Summand]:
    """The tables to add up; of alternatives their envelope above, or the dearest of them below."""
    return [Summand(_table(part.alternatives, step, log_tail, tabulate), part.times) for part in direction]


def _table(pairs: tuple[LossPair, ...], step: float, log_tail: float, tabulate: Tabulate) -> TabulatedLoss:
    if len(pairs) == 1:
        lattice = pairs[0].lattice
        return tabulate(pairs[0], step, log_tail, lattice.origin if lattice else 0.0)
    tables = [tabulate(pair, step, log_tail, 0.0) for pair in pairs]
    return envelope(tables) if tabulate is table_above else max(tables, key=lambda table: table.mean)


def infinite(direction: Direction) -> float:
    """The probability that some loss is infinite, whatever is tabulated."""
    kept = 0.0
    for part in direction:
        tops = (pair.cells(np.array([pair.reach(SMALLEST).high + 1.0])).p[-1] for pair in part.alternatives)
        kept += part.times * math.log1p(-min(float(max(tops)), 1 - UNIT))
    return -math.expm1(kept)


def planned(direction: Direction, question: ProfilePoint, accuracy: float) -> CompositionPlan:
    """Choose how to answer the question to within this share of epsilon."""
    count = sum(part.times for part in direction)
    log_tail = question.log_delta(0.0, 1.0, 0.0) - math.log(count) - MARGIN
    while True:
        sight = _sighted(direction, question, log_tail, accuracy)
        wanted = sight.log_delta - math.log(count) - MARGIN
        if wanted >= log_tail - 1:
            return sight.plan
        log_tail = wanted


@dataclass(frozen=True)
class _Sight:
    """The plan after a look at coarse tables, and what they show of delta."""

    plan: CompositionPlan
    log_delta: float


def _sighted(direction: Direction, question: ProfilePoint, log_tail: float, accuracy: float) -> _Sight:
    reaches = [pair.reach(log_tail) for part in direction for pair in part.alternatives]
    span = max(max(reach.high - reach.low for reach in reaches), 1e-6)
    step = span / CELLS
    while True:
        coarse = summands(direction, step, log_tail, table_above)
        infinity = Composition.infinite(coarse)
        tilt, height = _best_tilt(coarse, question, infinity, span)
        epsilon, log_delta = question.epsilon(height, tilt, infinity), question.log_delta(height, tilt, infinity)
        finest = finest_step(direction, tilt, epsilon, accuracy)
        tilt = min(tilt, 1 / finest)  # a greater one would hide all but one point of a coarse lattice
        frames = [_frame(coarse, tilt * share, epsilon, log_delta) for share in SHARES]
        frame = min(frames, key=lambda frame: frame.width)
        plan = CompositionPlan(frame.tilt, step, frame.width, frame.beyond, log_tail, epsilon, span).sharpened(finest)
        if step <= 50 * plan.step:
            return _Sight(plan, log_delta)
        step = max(step / 16, 40 * plan.step)


def _best_tilt(coarse: Sequence[Summand], question: ProfilePoint, infinity: float, span: float) -> tuple[float, float]:
    from scipy.optimize import minimize_scalar  # loading it takes longer than opening a ledger, which seldom needs it

    spread = max(math.sqrt(tilted_variance(coarse, 0.0)), coarse[0].table.step / 16)

    def height(tilt: float) -> float:
        return log_moment(coarse, tilt) - math.log1p(tilt) - math.log1p(2.5 * spread * tilt)

    def objective(log: float) -> float:
        return question.objective(height(math.exp(log)), math.exp(log), infinity)

    scan = np.linspace(math.log(0.01 / (spread + span)), math.log(1e4 / spread), SCAN)
    best = int(np.argmin([objective(log) for log in scan]))
    bounds = (scan[max(best - 1, 0)], scan[min(best + 1, SCAN - 1)])
    found = minimize_scalar(objective, bounds=bounds, method="bounded", options={"xatol": 0.02})
    return math.exp(found.x), height(math.exp(found.x))


@dataclass(frozen=True)
class _Frame:
    tilt: float
    width: float
    beyond: float


def _frame(coarse: Sequence[Summand], tilt: float, epsilon: float, log_delta: float) -> _Frame:
    """The least period whose images do not matter: on the left by delta <= 1, on the right by Chernoff."""
    spread = math.sqrt(tilted_variance(coarse, tilt)) + coarse[0].table.step
    here = log_moment(coarse, tilt)
    further = np.geomspace(0.5, 100.0, 10) / spread
    widths = [(log_moment(coarse, tilt + more) - here + IMAGES) / more - epsilon for more in further]
    best = int(np.argmin(widths))
    return _Frame(tilt, max((IMAGES - log_delta) / tilt, float(widths[best]), 4 * spread), tilt + float(further[best]))


def finest_step(direction: Direction, rate: float, epsilon: float, accuracy: float) -> float:
    """The step that the accuracy asks for; where a lattice carries some losses, a step that divides it.

    Connecting the dots adds at most step^2 / 6 to the variance of a loss that is spread over a cell, and half of
    that to its mean. Where the slope of delta falls like exp(-rate * epsilon), so says the saddle point with the
    tilt for a rate, that moves epsilon by about count * step^2 * (1 + rate) / 12.
    """
    lattices = [pair.lattice for part in direction for pair in part.alternatives]
    spacings = {lattice.spacing for lattice in lattices if lattice is not None}
    spacing = spacings.pop() if len(spacings) == 1 else math.inf
    if all(lattice is not None and lattice.whole for lattice in lattices) and spacing < math.inf:
        return spacing
    count = sum(part.times for part in direction)
    step = math.sqrt(12 * accuracy * (epsilon + 1 / rate) / (count * (1 + rate)))
    return spacing / math.ceil(spacing / step) if step < spacing < math.inf else step
