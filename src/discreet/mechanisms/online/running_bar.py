"""The sparse vector technique in instalments: scores that come one at a time, each chosen after the last outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.events import PureLoss
from discreet.core.grid import Steps
from discreet.noise.laplace import rounded_laplace


@dataclass(frozen=True)
class Bar:
    """A threshold that at most `count` scores are to pass, and the noise with which that can be told.

    Parameters
    ----------
    epsilon : float
        Public. Of all outcomes together.
    threshold : float
        Public. In the units of the scores.
    count : int
        Public. How many scores may be found to pass. Whoever asks has to stop then.

    Guarantee
    ---------
    `PureLoss(epsilon)`: that of `SparseVector`, whose proof lets each score depend on the outcomes before it. Lyu, Su
    and Li 2017, Theorem 2, with their split of epsilon.
    """

    epsilon: float
    threshold: float
    count: int

    @property
    def event(self) -> PureLoss:
        """The price of all outcomes."""
        return PureLoss(self.epsilon)

    @property
    def bar_multiplier(self) -> Fraction:
        """The noise of the bar, drawn once, in units of the scores' sensitivity."""
        return 1 / Fraction(self.epsilon / (1 + (2 * self.count) ** (2 / 3)))

    @property
    def score_multiplier(self) -> Fraction:
        """The noise of each score, in the same units."""
        return 2 * self.count / (Fraction(self.epsilon) - 1 / self.bar_multiplier)

    def margin(self, chance: float, sensitivity: float = 1.0) -> float:
        """How far above the threshold a score can be and yet not pass, but for this chance.

        The difference of independent Laplace variables of scales a > b exceeds t > 0 with probability
        (a^2 exp(-t / a) - b^2 exp(-t / b)) / (2 (a^2 - b^2)), which is at most exp(-t / a) a^2 / (2 (a^2 - b^2)).
        """
        large, small = (float(scale) * sensitivity for scale in (self.score_multiplier, self.bar_multiplier))
        return large * max(0.0, math.log(large**2 / (2 * (large**2 - small**2) * chance)))


class RunningBar:
    """A bar with its noise, and whether scores pass it.

    Parameters
    ----------
    bar : Bar
        Public. The threshold.
    bits : Bits
        Where noise comes from.
    """

    def __init__(self, bar: Bar, bits: Bits) -> None:
        self._bar, self._bits = bar, bits
        self._height: Steps | None = None
        self._first: Answer | None = None

    def passed(self, scores: Answer) -> NDArray[np.bool_]:
        """Whether each score, with fresh noise, reaches the bar; every time for scores of one sensitivity and grid."""
        scores = scores.coarsened(self._bar.score_multiplier, "linf")
        if self._first is None or self._height is None:
            self._first, self._height = scores, self._drawn(scores)
        self._first.check_alike(scores)
        noise = rounded_laplace(self._bits, scores.steps.shape, scores.scale(self._bar.score_multiplier, "linf"))
        return scores.steps + noise >= self._height

    def _drawn(self, scores: Answer) -> Steps:
        level = math.ldexp(self._bar.threshold, -scores.grid.exponent)
        scale = scores.scale(self._bar.bar_multiplier, "linf")
        return math.floor(min(max(level, -(2.0**61)), 2.0**61)) + rounded_laplace(self._bits, scores.steps.shape, scale)
