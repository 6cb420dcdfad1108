"""Slopes of a regression by propose-test-release: those of Dwork and Lei, or no answer."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.mechanisms.ranks.quantile import Quantile
from discreet.mechanisms.stable.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stable.sample_and_aggregate import SampleAndAggregate
from discreet.mechanisms.stable.stable_figures import SpreadClass, StableQuantile
from discreet.statistics.fits.block_slopes import OneSlope
from discreet.statistics.fits.dealing import COUNT, INTERCEPT, Blocks, Dealing, ScaledFit
from discreet.trust.permit import Permit

WIDEST = 2.0**6  # of a slope, where all columns are scaled to [-1, 1]
STEPS = 2**34  # from -WIDEST to WIDEST
CLASSES = tuple(SpreadClass(-WIDEST, WIDEST, STEPS, 2.0, offset) for offset in (0.0, 0.5))
TESTED = 0.5  # the part of delta for tests that err; the rest is for what all releases cost together
ROOM = 3.2  # see `SlopesByTests.proposed`
SAFE = 3.0  # noise scales between a typical distance and the threshold


@dataclass(frozen=True)
class SlopesByTests:
    """By propose-test-release: the short-cut regression of Dwork and Lei 2009.

    For each column, the interquartile range of the blocks' slopes is released by its class on a geometric scale, if it
    is far from any jump; then the median of the blocks' slopes, with Laplace noise, if one block cannot move it by more
    than a small part of that range, now or after many blocks have changed. Their theorem says that both tests pass
    once there are enough blocks, and leaves open how many are enough: `proposed` counts them. What is promised does
    not depend on that. Each column costs three tests and a release, all with Laplace noise, and two chances to err.

    Parameters
    ----------
    of : Blocks
        Public. The blocks.
    delta : float
        Public. Of all releases together.
    """

    of: Blocks
    delta: float

    @property
    def parts(self) -> tuple[Any, ...]:
        """What is paid for, at a price of 1 in all: a count; a range and a median for each column; an intercept."""
        count, columns = self.of.parts, len(self.of.frame.columns)
        each = (1 - INTERCEPT - COUNT * len(count)) / (2 * columns)
        risk = TESTED * self.delta / (2 * columns)
        tests = [ProposeTestRelease(1.0, risk, figures) for figures in (CLASSES, (_median(1),))]
        both = tuple(SampleAndAggregate(each, test) for test in tests)
        return (*count, *columns * both, SampleAndAggregate(INTERCEPT, Quantile()))

    def check(self, mechanisms: tuple[Any, ...]) -> None:
        """Refuse, before anything is charged, what could need more noise than can be drawn."""
        self.of.check(mechanisms)
        for one in mechanisms[len(self.of.parts) : -1]:
            one.mechanism.check(self.of.data.unit.rows, STEPS)

    def found(self, permit: Permit, mechanisms: tuple[Any, ...]) -> ScaledFit:
        """The fit, for a permit that pays for these mechanisms."""
        dealing, rest = self.of.opened(permit, mechanisms), mechanisms[len(self.of.parts) :]
        pairs = zip(rest[:-1:2], rest[1:-1:2], strict=True)
        slopes = np.array(
            [self._slope(dealing, OneSlope(dealing.frame, None, j), *pair) for j, pair in enumerate(pairs)]
        )
        answered = not np.isnan(slopes).any()
        intercept = dealing.residual(rest[-1], tuple(slopes.tolist())) if answered else math.nan
        return ScaledFit(slopes, None, intercept, dealing.blocks)

    def _slope(self, dealing: Dealing, of: OneSlope, spread: SampleAndAggregate, median: SampleAndAggregate) -> float:
        """One slope, or nan for no answer."""
        apart = float(dealing.asked(spread, of))
        if math.isnan(apart):
            return math.nan
        figures = (_median(self.proposed(median.mechanism, dealing.blocks, apart)),)
        test = dataclasses.replace(median.mechanism, figures=figures)
        return float(dealing.asked(dataclasses.replace(median, mechanism=test), of))

    def proposed(self, test: ProposeTestRelease, blocks: int, apart: float) -> int:
        """How far one block is proposed to move the median, in steps, for slopes whose quartiles are so far apart.

        The test passes if every window that is wider than this, and holds the median, has as many slopes inside as the
        threshold says, and a few noise scales more. Where slopes follow Student's law of two degrees of freedom, a
        small window, measured in interquartile ranges, holds 0.577 times as great a share of them; the range is known
        to a factor of sqrt 2; and `ROOM` is 1.3 sqrt 2 / 0.577.
        """
        rows = self.of.data.unit.rows
        needed = test.threshold(rows) + SAFE * rows * test.multiplier
        return min(max(math.ceil(ROOM * needed / blocks * apart * STEPS / (2 * WIDEST)), 1), STEPS)


def _median(bound: int) -> StableQuantile:
    """The median of slopes, and the proposal that one block moves it by at most `bound` steps."""
    return StableQuantile(0.5, -WIDEST, WIDEST, STEPS, bound)
