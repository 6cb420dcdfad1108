"""The sparse vector technique: which of many queries are above a threshold, paying only for those that are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, Apart, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Steps
from discreet.core.knob import check_knob, check_whole
from discreet.core.rounding import upwards
from discreet.noise.laplace import rounded_laplace

ABOVE, BELOW, UNASKED = 1, 0, -1


def _check(mechanism: str, epsilon: float, threshold: float, count: int) -> None:
    check_knob(mechanism, "epsilon", epsilon)
    if not math.isfinite(threshold):
        raise ParameterError(mechanism, f"threshold is {threshold}", "Give a finite, public threshold.")
    check_whole(mechanism, "count", count)


@dataclass(frozen=True)
class SparseVector:
    """Tell for each query of a sequence whether it is above a threshold, and stop after `count` that are.

    Algorithm 7 of Lyu, Su and Li 2017: one noise for the threshold, fresh noise for every query, none released. Four of
    the six variants they examine, which draw less, are not private.

    Parameters
    ----------
    epsilon : float
        Public.
    threshold : float
        Public. In the units of the queries.
    count : int
        Public. How many queries may be found above; 1 is the classic above-threshold.

    Guarantee
    ---------
    `PureLoss(epsilon)`, however many queries there are, each of the answer's linf sensitivity. Lyu, Su and Li 2017,
    Theorem 2 (Theorem 5 where nobody can lower a query), with their split of epsilon, 1 : (2 count)^(2/3).
    Shifting rounded Laplace noise by whole steps changes its masses by at most exp(shift / scale): all the proof needs.

    Examples
    --------
    >>> SparseVector(epsilon=1.0, threshold=100.0, count=3).event
    PureLoss(epsilon=1.0)
    """

    epsilon: float = 1.0
    threshold: float = 0.0
    count: int = 1
    knob: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        _check("SparseVector", self.epsilon, self.threshold, self.count)

    @property
    def event(self) -> PureLoss:
        """The price of the whole sequence."""
        return PureLoss(self.epsilon)

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """For each query 1 (above), 0 (below) or -1 (not asked any more); one row per stacked answer."""
        changes = self.count if answer.monotone else 2 * self.count
        for_threshold = Fraction(self.epsilon / (1 + changes ** (2 / 3)))
        for_queries = Fraction(self.epsilon) - for_threshold
        answer = answer.coarsened(changes / for_queries, "linf").limited()
        level = math.floor(math.ldexp(self.threshold, -answer.grid.exponent))
        level = min(max(level, -(2**61)), 2**61)
        one_per_sequence = (*answer.steps.shape[:-1], 1)
        bar = level + rounded_laplace(bits, one_per_sequence, answer.scale(1 / for_threshold, "linf"))
        noise = rounded_laplace(bits, answer.steps.shape, answer.scale(changes / for_queries, "linf"))
        above = answer.steps + noise >= bar
        asked = np.cumsum(above, axis=-1) - above < self.count
        return np.where(asked, above.astype(np.int64), UNASKED)

    def worst_neighbors(self) -> Apart:
        """All queries but the last rise to the threshold, and the last falls from it."""
        bound = Bound("linf", 1.0)
        return Apart(whole_numbers(5 * [0] + [1], bound), whole_numbers(5 * [1] + [0], bound))


@dataclass(frozen=True)
class NumericSparseVector:
    """The sparse vector technique, with a noisy value for each query that is found above.

    The values get fresh noise: the noisy number that was compared is never released.

    Parameters
    ----------
    epsilon : float
        Public. Of which half goes to the comparisons and half to the values.
    threshold : float
        Public. In the units of the queries.
    count : int
        Public. How many queries may be found above.

    Guarantee
    ---------
    `PureLoss(epsilon)`: a `SparseVector` and `count` Laplace releases, composed. Dwork and Roth 2014, Theorem 3.28,
    with the noise of Lyu, Su and Li 2017.

    Examples
    --------
    >>> NumericSparseVector(epsilon=1.0).event
    PureLoss(epsilon=1.0)
    """

    epsilon: float = 1.0
    threshold: float = 0.0
    count: int = 1
    knob: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        _check("NumericSparseVector", self.epsilon, self.threshold, self.count)

    @property
    def event(self) -> PureLoss:
        """The price of the whole sequence."""
        return PureLoss(upwards(2 * Fraction(self.epsilon / 2)))

    def release(self, answer: Answer, bits: Bits) -> Array:
        """For each query its noisy value if found above, else nan; one row per stacked answer."""
        found = SparseVector(self.epsilon / 2, self.threshold, self.count).release(answer, bits)
        multiplier = 2 * self.count / Fraction(self.epsilon)
        answer = answer.coarsened(multiplier, "linf")
        noise = rounded_laplace(bits, answer.steps.shape, answer.scale(multiplier, "linf"))
        return np.where(found == ABOVE, answer.noised(noise), np.nan)

    def worst_neighbors(self) -> Apart:
        """One query at the threshold that rises."""
        bound = Bound("linf", 1.0)
        return Apart(whole_numbers([0], bound), whole_numbers([1], bound))
