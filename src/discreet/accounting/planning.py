"""How finely to compute a composition: chosen from a coarse look at it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from discreet.accounting.composition import TRANSFORM, Composition, Summand, log_moment, tilted_variance
from discreet.accounting.directions import Direction
from discreet.accounting.pairs import UNIT, LossPair
from discreet.accounting.tabulation import EVERYWHERE, TabulatedLoss, Window, best_origin_below, envelope, table_above

MARGIN = 16.0  # tails that are cut off hold less than exp(-MARGIN) of delta
IMAGES = 18.0  # periodic images add less than exp(-IMAGES) of delta
CELLS = 4096  # of the coarse look
SCAN = 20  # tilts of the first look
SHARES = (1.0, 0.95, 0.85, 0.7, 0.5)  # of the best tilt: where a tail is heavy, a smaller one needs a shorter period
FLOOR = 1e-6  # of delta, by the rounding of the transform
LONGEST = 2**20  # of a period, in steps
SMALLEST = -690.0  # deltas below exp of this are not distinguished

LONG = 2**17  # steps: a length that is worth a look at what a cut would save
SHORTER = 4.0  # times shorter pays for the profile beside jumps
TRIMMED = 1e-7  # of a moment, by losses that are moved up to the lowest of a table
SEVERAL = 1e-6  # of delta, by two jumps or more

Tabulate = Callable[[LossPair, float, float, float, Window], TabulatedLoss]


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
class TiltedFrame:
    """A tilt, the period, and the tilt at which the period's images on the right are bounded."""

    tilt: float
    width: float
    beyond: float


@dataclass(frozen=True)
class CompositionPlan:
    """How to compose.

    The frame, the lattice's step, the logarithm of the tails to cut off, about where epsilon is, how far the losses of
    one release span, and which of them are tabulated. Losses above the window are jumps if there are frames for the
    profile beside them.
    """

    frame: TiltedFrame
    step: float
    log_tail: float
    epsilon: float
    span: float
    window: Window = EVERYWHERE
    beside: tuple[TiltedFrame, ...] = ()

    @property
    def tilt(self) -> float:
        return self.frame.tilt

    @property
    def length(self) -> float:
        """How many steps the period and the tables have."""
        return max(self.frame.width, self.span) / self.step

    def sharpened(self, step: float) -> CompositionPlan:
        """The plan with this step, as far as there is room for it."""
        longest = LONGEST / 4 if self.beside else LONGEST  # a profile beside jumps takes several transforms
        return replace(self, step=max(step, self.frame.width / longest, self.span / longest))

    def widened(self, log_excess: float) -> CompositionPlan:
        """The plan with a longer period, so that the images shrink by exp(-log_excess)."""
        frame = self.frame
        width = frame.width + log_excess / min(frame.tilt, frame.beyond - frame.tilt)
        return replace(self, frame=replace(frame, width=width))

    def finer(self) -> CompositionPlan:
        """The plan with a step half as long, or less while that is cheap."""
        return replace(self, step=self.step / min(64, max(2, int(2**18 / self.length))))


def summands(
    direction: Direction, step: float, log_tail: float, tabulate: Tabulate, window: Window = EVERYWHERE
) -> list[Summand]:
    """The tables to add up; of alternatives their envelope above, or the dearest of them below."""
    return [Summand(_table(part.alternatives, step, log_tail, tabulate, window), part.times) for part in direction]


def _table(
    pairs: tuple[LossPair, ...], step: float, log_tail: float, tabulate: Tabulate, window: Window
) -> TabulatedLoss:
    if len(pairs) == 1:
        return tabulate(pairs[0], step, log_tail, _origin(pairs[0], step, tabulate), window)
    tables = [tabulate(pair, step, log_tail, 0.0, window) for pair in pairs]
    return envelope(tables) if tabulate is table_above else max(tables, key=lambda table: table.mean)


def _origin(pair: LossPair, step: float, tabulate: Tabulate) -> float:
    if pair.lattice is not None:
        return pair.lattice.origin
    return 0.0 if tabulate is table_above else best_origin_below(pair, step)


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
        sight = _sighted(direction, question, log_tail, accuracy, math.inf, 0.0)
        wanted = sight.log_delta - math.log(count) - MARGIN
        if wanted >= log_tail - 1:
            break
        log_tail = wanted
    return shorter_with_jumps(direction, question, accuracy, sight.log_delta, sight.plan)


def planned_with_jumps(
    direction: Direction, question: ProfilePoint, accuracy: float, log_delta: float
) -> CompositionPlan | None:
    """Plan for losses above a cut apart, where delta is about this; None if there are none, or parts are parallel.

    The cut is where two jumps or more have a negligible share of delta.
    """
    count = sum(part.times for part in direction)
    log_tail = log_delta - math.log(count) - MARGIN
    if any(len(part.alternatives) > 1 for part in direction):
        return None
    cut = _cut(direction, math.exp((log_delta + math.log(2 * SEVERAL)) / 2), log_tail)
    if cut is None:
        return None
    return _sighted(direction, question, log_tail, accuracy, cut, _one_jump(direction, log_delta, cut, log_tail)).plan


def _one_jump(direction: Direction, log_delta: float, cut: float, log_tail: float) -> float:
    """The epsilon above the cut at which single releases add up to this delta; 0 if there is none."""

    def excess(epsilon: float) -> float:
        cells = [(part.times, part.alternatives[0].cells(np.array([epsilon]))) for part in direction]
        return sum(times * float(c.p[-1] - math.exp(epsilon) * c.q[-1]) for times, c in cells) - math.exp(log_delta)

    low, high = cut, max(part.alternatives[0].reach(log_tail).high for part in direction)
    if excess(low) < 0:
        return 0.0
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def shorter_with_jumps(
    direction: Direction, question: ProfilePoint, accuracy: float, log_delta: float, plan: CompositionPlan
) -> CompositionPlan:
    """The plan, or one with jumps apart if that is a lot shorter."""
    if plan.beside or plan.length < LONG:
        return plan
    apart = planned_with_jumps(direction, question, accuracy, log_delta)
    return plan if apart is None or apart.length > plan.length / SHORTER else apart


def _cut(direction: Direction, rate: float, log_tail: float) -> float | None:
    """The least loss above which fewer jumps than this are to be expected, if any."""

    def expected(loss: float) -> float:
        edges = np.array([loss])
        return sum(part.times * float(part.alternatives[0].cells(edges).p[-1]) for part in direction)

    high = max(part.alternatives[0].reach(log_tail).high for part in direction)
    low = 1e-9 * high
    if high <= 0 or expected(0.99 * high) > rate or expected(low) <= rate:
        return None
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if expected(middle) > rate else (low, middle)
    return high


@dataclass(frozen=True)
class _Sight:
    """The plan after a look at coarse tables, and what they show of delta."""

    plan: CompositionPlan
    log_delta: float


def _sighted(
    direction: Direction, question: ProfilePoint, log_tail: float, accuracy: float, cut: float, jump: float
) -> _Sight:
    reaches = [pair.reach(log_tail) for part in direction for pair in part.alternatives]
    lowest, highest = min(reach.low for reach in reaches), min(cut, max(reach.high for reach in reaches))
    window, span = Window(-math.inf, cut), max(highest - lowest, 1e-6)
    step = span / CELLS
    while True:
        coarse = summands(direction, step, log_tail, table_above, window)
        if cut < math.inf:
            coarse = [without_infinity(summand) for summand in coarse]
        infinity = Composition.infinite(coarse)
        tilt, height = _best_tilt(coarse, question, infinity, span)
        epsilon, log_delta = question.epsilon(height, tilt, infinity), question.log_delta(height, tilt, infinity)
        epsilon = max(epsilon, jump)
        finest = finest_step(direction, tilt, epsilon, accuracy)
        tilt = min(tilt, 1 / finest)  # a greater one would hide all but one point of a coarse lattice
        frame = _best_frame(coarse, tilt, epsilon, log_delta)
        beside = _frames_beside(coarse, frame.tilt) if cut < math.inf else ()
        least = min(frame.tilt for frame in (frame, *beside))
        window = Window(max(window.low, _lowest(coarse, least)), cut)
        span = min(span, highest - max(window.low, lowest) + step)
        plan = CompositionPlan(frame, step, log_tail, epsilon, span, window, beside).sharpened(finest)
        if step <= 50 * plan.step:
            return _Sight(plan, log_delta)
        step = max(step / 16, 40 * plan.step)


def without_infinity(summand: Summand) -> Summand:
    """The summand without what its table says of losses above it."""
    return replace(summand, table=replace(summand.table, infinity=0.0))


def _lowest(coarse: Sequence[Summand], tilt: float) -> float:
    """The greatest loss to which all lower ones may be moved, for the moment's sake; below 0."""
    found = math.inf
    for summand in coarse:
        losses, below = summand.table.losses, np.cumsum(summand.table.masses)
        log = log_moment([replace(summand, times=1)], tilt)
        with np.errstate(divide="ignore"):
            moved = math.log(summand.times) + np.log(below) + tilt * losses - log
        enough = int(np.searchsorted(moved > math.log(TRIMMED), True))
        found = min(found, float(losses[max(enough - 1, 0)]) - summand.table.step)
    return min(found, 0.0)


def _frames_beside(coarse: Sequence[Summand], tilt: float) -> tuple[TiltedFrame, ...]:
    """Frames that see the law from its mean up to where this tilt brings it."""
    spread = math.sqrt(tilted_variance(coarse, 0.0))
    least = min(tilt, 1 / spread)
    tilts = np.geomspace(least, tilt, 3).tolist() if least < tilt / 2 else [tilt]
    frames, seen = [], sum(summand.times * summand.table.mean for summand in coarse) - 8 * spread
    for each in tilts:
        mean = (log_moment(coarse, each * (1 + 1e-4)) - log_moment(coarse, each)) / (1e-4 * each)
        log_delta = log_moment(coarse, each) - each * mean - math.log1p(each) - math.log1p(2.5 * spread * each)
        frames.append(_frame(coarse, each, seen, log_delta))
        seen = mean
    return tuple(frames)


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


def _best_frame(coarse: Sequence[Summand], tilt: float, epsilon: float, log_delta: float) -> TiltedFrame:
    """The frame with the least period among those in which rounding does not hide delta."""
    scales = {share: log_moment(coarse, tilt * share) - tilt * share * epsilon - log_delta for share in SHARES}
    rounding = math.log(64 * TRANSFORM * sum(summand.times for summand in coarse) / FLOOR)
    usable = [share for share, scale in scales.items() if scale + rounding < 0] or [min(scales, key=scales.__getitem__)]
    return min((_frame(coarse, tilt * share, epsilon, log_delta) for share in usable), key=lambda frame: frame.width)


def _frame(coarse: Sequence[Summand], tilt: float, epsilon: float, log_delta: float) -> TiltedFrame:
    """The least period whose images do not matter: on the left by delta <= 1, on the right by Chernoff."""
    spread = math.sqrt(tilted_variance(coarse, tilt)) + coarse[0].table.step
    here = log_moment(coarse, tilt)
    further = np.geomspace(0.5, 100.0, 10) / spread
    widths = [(log_moment(coarse, tilt + more) - here + IMAGES) / more - epsilon for more in further]
    best = int(np.argmin(widths))
    return TiltedFrame(
        tilt, max((IMAGES - log_delta) / tilt, float(widths[best]), 4 * spread), tilt + float(further[best])
    )


def finest_step(direction: Direction, rate: float, epsilon: float, accuracy: float) -> float:
    """The step that the accuracy asks for; where a lattice carries some losses, a step that divides it.

    Connecting the dots adds at most step^2 / 6 to the variance of a loss that is spread over a cell, and half of
    that to its mean. Where the slope of delta falls like exp(-rate * epsilon), so says the saddle point with the
    tilt for a rate, that moves epsilon by about count * step^2 * (1 + rate) / 12.
    """
    lattices = [pair.lattice for part in direction for pair in part.alternatives]
    spacings = {lattice.spacing for lattice in lattices if lattice is not None and lattice.spacing < math.inf}
    spacing = spacings.pop() if len(spacings) == 1 else math.inf
    if all(lattice is not None and lattice.whole for lattice in lattices) and spacing < math.inf:
        return spacing
    count = sum(part.times for part in direction)
    step = math.sqrt(12 * accuracy * (epsilon + 1 / rate) / (count * (1 + rate)))
    return spacing / math.ceil(spacing / step) if step < spacing < math.inf else step
