"""How finely to compute a composition: chosen from a coarse look at it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discreet.accounting.composition import Composition
from discreet.accounting.pairs.directions import Direction
from discreet.accounting.pairs.pairs import UNIT, LossPair
from discreet.accounting.pairs.tabulation import (
    EVERYWHERE,
    TabulatedLoss,
    Window,
    best_origin_below,
    envelope,
    table_above,
)
from discreet.accounting.search import Ends, narrowed
from discreet.accounting.single_release import FARTHEST
from discreet.accounting.tilted_frame import (
    SMALLEST,
    ProfilePoint,
    TiltedFrame,
    best_frame,
    best_tilt,
    frames_beside,
    lowest,
)
from discreet.accounting.tilting import Summand

MARGIN = 16.0  # tails that are cut off hold less than exp(-MARGIN) of delta
CELLS = 4096  # of the coarse look
LONGEST = 2**20  # of a period, in steps
LONG = 2**17  # steps: a length that is worth a look at what a cut would save
SHORTER = 4.0  # times shorter pays for the profile beside jumps
SEVERAL = 1e-6  # of delta, by two jumps or more
LOOKS = 40  # at coarse tables: each has a step 16 times shorter, or tails that are e times smaller
FLATTEST = 2.0**-20  # rate that is planned for, where delta is nearly 1

Tabulate = Callable[[LossPair, float, float, float, Window], TabulatedLoss]


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
    for _ in range(LOOKS):
        sight = _sighted(direction, question, log_tail, accuracy, math.inf, 0.0)
        wanted = sight.log_delta - math.log(count) - MARGIN
        if not wanted < log_tail - 1:
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
        grown = math.exp(min(epsilon, FARTHEST))
        return sum(times * float(c.p[-1] - grown * c.q[-1]) for times, c in cells) - math.exp(log_delta)

    low, high = cut, max(part.alternatives[0].reach(log_tail).high for part in direction)
    if excess(low) < 0:
        return 0.0
    return narrowed(lambda epsilon: excess(epsilon) <= 0, Ends(low, high), _near, _geometric).low


def _near(ends: Ends) -> bool:
    return ends.high <= 1.01 * ends.low


def _geometric(ends: Ends) -> float:
    return math.sqrt(ends.low * ends.high)


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
    return narrowed(lambda loss: expected(loss) <= rate, Ends(low, high), _near, _geometric).high


@dataclass(frozen=True)
class _Sight:
    """The plan after a look at coarse tables, and what they show of delta."""

    plan: CompositionPlan
    log_delta: float


def _sighted(
    direction: Direction, question: ProfilePoint, log_tail: float, accuracy: float, cut: float, jump: float
) -> _Sight:
    reaches = [pair.reach(log_tail) for part in direction for pair in part.alternatives]
    least_loss, highest = min(reach.low for reach in reaches), min(cut, max(reach.high for reach in reaches))
    window, span = Window(-math.inf, cut), max(highest - least_loss, 1e-6)
    step = span / CELLS
    for _ in range(LOOKS):
        coarse = summands(direction, step, log_tail, table_above, window)
        if cut < math.inf:
            coarse = [without_infinity(summand) for summand in coarse]
        infinity = Composition.infinite(coarse)
        tilt, height = best_tilt(coarse, question, infinity, span)
        epsilon, log_delta = question.epsilon(height, tilt, infinity), question.log_delta(height, tilt, infinity)
        epsilon = max(epsilon, jump)
        finest = finest_step(direction, tilt, epsilon, accuracy)
        tilt = min(tilt, 1 / finest)  # a greater one would hide all but one point of a coarse lattice
        frame = best_frame(coarse, tilt, epsilon, log_delta)
        beside = frames_beside(coarse, frame.tilt) if cut < math.inf else ()
        least = min(frame.tilt for frame in (frame, *beside))
        window = Window(max(window.low, lowest(coarse, least)), cut)
        span = min(span, highest - max(window.low, least_loss) + step)
        plan = CompositionPlan(frame, step, log_tail, epsilon, span, window, beside).sharpened(finest)
        if step <= 50 * plan.step:
            break
        step = max(step / 16, 40 * plan.step)
    return _Sight(plan, log_delta)


def without_infinity(summand: Summand) -> Summand:
    """The summand without what its table says of losses above it."""
    return replace(summand, table=replace(summand.table, infinity=0.0))


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
    step = math.sqrt(12 * accuracy * (epsilon + 1 / max(rate, FLATTEST)) / (count * (1 + rate)))
    return spacing / math.ceil(spacing / step) if step < spacing < math.inf else step
