"""Where a composition is tabulated: the point of the privacy profile that is asked for, the tilt and the frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from discreet.accounting.composition import TRANSFORM
from discreet.accounting.tilting import Summand, TiltedSum, log_moment

SMALLEST = -690.0  # deltas below exp of this are not distinguished
IMAGES = 18.0  # periodic images add less than exp(-IMAGES) of delta
SHARES = (1.0, 0.95, 0.85, 0.7, 0.5)  # of the best tilt: where a tail is heavy, a smaller one needs a shorter period
FLOOR = 1e-6  # of delta, by the rounding of the transform
TRIMMED = 1e-7  # of a moment, by losses that are moved up to the lowest of a table


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


def lowest(coarse: Sequence[Summand], tilt: float) -> float:
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


def frames_beside(coarse: Sequence[Summand], tilt: float) -> tuple[TiltedFrame, ...]:
    """Frames that see the law from its mean up to where this tilt brings it."""
    spread = math.sqrt(TiltedSum(coarse, 0.0).variance)
    least = min(tilt, 1 / spread)
    tilts = np.geomspace(least, tilt, 3).tolist() if least < tilt / 2 else [tilt]
    frames, seen = [], sum(summand.times * summand.table.mean for summand in coarse) - 8 * spread
    for each in tilts:
        mean = (log_moment(coarse, each * (1 + 1e-4)) - log_moment(coarse, each)) / (1e-4 * each)
        log_delta = log_moment(coarse, each) - each * mean - math.log1p(each) - math.log1p(2.5 * spread * each)
        frames.append(_frame(TiltedSum(coarse, each), seen, log_delta))
        seen = mean
    return tuple(frames)


def best_tilt(coarse: Sequence[Summand], question: ProfilePoint, infinity: float, span: float) -> tuple[float, float]:
    from scipy.optimize import minimize_scalar  # loading it takes longer than opening a ledger, which seldom needs it

    untilted = TiltedSum(coarse, 0.0)
    spread = max(math.sqrt(untilted.variance), coarse[0].table.step / 16)

    def height(moment: float, tilt: float) -> float:
        return moment - math.log1p(tilt) - math.log1p(2.5 * spread * tilt)

    def objective(log: float) -> float:
        tilt = math.exp(log)
        return question.objective(height(log_moment(coarse, tilt), tilt), tilt, infinity)

    least = 0.01 / (spread + span)
    scan = least * 2.0 ** np.arange(math.ceil(math.log2(1e4 / (spread * least))) + 1)
    moments = untilted.doubled(least, len(scan)).tolist()
    heights = [
        question.objective(height(moment, tilt), tilt, infinity)
        for moment, tilt in zip(moments, scan.tolist(), strict=True)
    ]
    best = int(np.argmin(heights))
    bounds = (math.log(scan[max(best - 1, 0)]), math.log(scan[min(best + 1, len(scan) - 1)]))
    found = minimize_scalar(objective, bounds=bounds, method="bounded", options={"xatol": 0.02})
    tilt = math.exp(found.x)
    return tilt, height(log_moment(coarse, tilt), tilt)


def best_frame(coarse: Sequence[Summand], tilt: float, epsilon: float, log_delta: float) -> TiltedFrame:
    """The frame with the least period among those in which rounding does not hide delta."""
    sums = [TiltedSum(coarse, tilt * share) for share in SHARES]
    rounding = math.log(64 * TRANSFORM * sum(summand.times for summand in coarse) / FLOOR)

    def scale(one: TiltedSum) -> float:
        return one.log - one.tilt * epsilon - log_delta

    usable = [one for one in sums if scale(one) + rounding < 0] or [min(sums, key=scale)]
    return min((_frame(one, epsilon, log_delta) for one in usable), key=lambda frame: frame.width)


def _frame(coarse: TiltedSum, epsilon: float, log_delta: float) -> TiltedFrame:
    """The least period whose images do not matter: on the left by delta <= 1, on the right by Chernoff."""
    spread = math.sqrt(coarse.variance) + coarse.summands[0].table.step
    further = np.outer([1.0, math.sqrt(2)], 2.0 ** np.arange(-1, 7)) / spread
    moments = np.stack([coarse.doubled(float(row[0]), len(row)) for row in further])
    widths = (moments - coarse.log + IMAGES) / further - epsilon
    best, tilt = np.unravel_index(np.argmin(widths), widths.shape), coarse.tilt
    return TiltedFrame(
        tilt, max((IMAGES - log_delta) / tilt, float(widths[best]), 4 * spread), tilt + float(further[best])
    )
