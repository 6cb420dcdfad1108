"""The sparse vector technique: which of many queries are above a threshold, paying only for those that are."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array, Steps, upwards
from discreet.core.held import Held, exclusive
from discreet.core.parameters import CheckedParameters
from discreet.noise.laplace import rounded_laplace

ABOVE, BELOW, UNASKED = 1, 0, -1
FARTHEST = 2**61  # steps of a threshold


def _check(mechanism: str, epsilon: float, threshold: float, count: int) -> None:
    check_positive(mechanism, "epsilon", epsilon)
    if not math.isfinite(threshold):
        raise ParameterError(mechanism, f"threshold is {threshold}", "Give a finite, public threshold.")
    check_whole(mechanism, "count", count)


@dataclass(frozen=True)
class SparseVector(CheckedParameters):
    """Find for each query of a sequence whether it is above a threshold, and stop after `count` that are.

    Algorithm 7 of Lyu, Su and Li 2017: one noise for the threshold, fresh noise for every query, none released. Four of
    the six variants they examine, which draw less, are not private. `release` answers a sequence that is known
    beforehand; an `OnlineSparseVector` takes it piece by piece.

    Parameters
    ----------
    epsilon : float
        Public. Of all outcomes together.
    threshold : float
        Public. In the units of the queries.
    count : int
        Public. How many queries may be found above; 1 is the classic above-threshold.

    Guarantee
    ---------
    `PureLoss(epsilon)` for any number of queries, each of the answer's linf sensitivity, where each may depend on the
    outcomes before it. Lyu, Su and Li 2017, Theorem 2 (Theorem 5 where nobody can lower a query), with their split of
    epsilon, 1 : (2 count)^(2/3). Shifting rounded Laplace noise by whole steps changes its masses by at most
    exp(shift / scale), which is all that the proof needs.

    Examples
    --------
    >>> SparseVector(epsilon=1.0, threshold=100.0, count=3).event
    PureLoss(epsilon=1.0)
    """

    epsilon: float = 1.0
    threshold: float = 0.0
    count: int = 1
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        _check("SparseVector", self.epsilon, self.threshold, self.count)

    @property
    def event(self) -> PureLoss:
        return PureLoss(self.epsilon)

    def threshold_multiplier(self, monotone: bool = False) -> Fraction:
        """The noise of the threshold, drawn once, in units of the queries' sensitivity."""
        return 1 / Fraction(self.epsilon / (1 + self._changes(monotone) ** (2 / 3)))

    def query_multiplier(self, monotone: bool = False) -> Fraction:
        """The noise of each query, in the same units."""
        return self._changes(monotone) / (Fraction(self.epsilon) - 1 / self.threshold_multiplier(monotone))

    def _changes(self, monotone: bool) -> int:
        return self.count if monotone else 2 * self.count

    def margin(self, chance: float, sensitivity: float = 1.0) -> float:
        """How far above the threshold a query can be and be found below with at most this chance.

        The difference of independent Laplace variables of scales a > b exceeds t > 0 with probability
        (a^2 exp(-t / a) - b^2 exp(-t / b)) / (2 (a^2 - b^2)), which is at most exp(-t / a) a^2 / (2 (a^2 - b^2)).
        """
        large, small = (float(scale) * sensitivity for scale in (self.query_multiplier(), self.threshold_multiplier()))
        return large * max(0.0, math.log(large**2 / (2 * (large**2 - small**2) * chance)))

    def release(self, answer: Answer, bits: Bits) -> Steps:
        """For each query 1 (above), 0 (below) or -1 (not asked any more); one row per stacked answer."""
        return OnlineSparseVector(self, bits).compare(answer)

    def worst_neighbors(self) -> NeighborPair:
        """All queries except the last rise to the threshold, and the last falls from it."""
        bound = Bound("linf", 1.0)
        return NeighborPair(whole_numbers(5 * [0] + [1], bound), whole_numbers(5 * [1] + [0], bound))


class OnlineSparseVector(Held):
    """The sparse vector technique for queries that are chosen one after another, with all outcomes so far in view.

    Parameters
    ----------
    mechanism : SparseVector
        Public. The threshold, and the price of all outcomes.
    bits : Bits
        Where noise comes from.

    Examples
    --------
    >>> from discreet.core.answer import Answer
    >>> from discreet.core.bound import Bound
    >>> from discreet.core.grid import Grid
    >>> from discreet.core.neighbors import Neighbors
    >>> from discreet.noise.system_bits import system_bits
    >>> online = OnlineSparseVector(SparseVector(threshold=500.0, count=1, epsilon=1.0), system_bits())
    >>> queries = Answer(np.array([100, 900]), Grid(0), Bound("linf", 1.0), Neighbors.ADD_REMOVE)
    >>> online.compare(queries).tolist(), online.ended
    ([0, 1], True)
    """

    def __init__(self, mechanism: SparseVector, bits: Bits) -> None:
        self._mechanism, self._bits = mechanism, bits
        self._threshold: Answer | None = None
        self._left: Steps = np.array([mechanism.count])

    @property
    def ended(self) -> bool:
        """Whether `count` queries were found above, in every stacked sequence."""
        return not self._left.any()

    @exclusive
    def compare(self, queries: Answer) -> Steps:
        """Outcomes of the next queries, as in `SparseVector.release`; all queries have one sensitivity and grid."""
        multiplier = self._mechanism.query_multiplier(queries.monotone)
        queries = queries.coarsened(multiplier, "linf").limited()
        if self._threshold is None:
            self._threshold = self._drawn(queries)
        self._threshold.check_alike(queries)
        noise = rounded_laplace(self._bits, queries.steps.shape, queries.scale(multiplier, "linf"))
        above = queries.steps + noise >= self._threshold.steps
        asked = np.cumsum(above, axis=-1) - above < self._left
        self._left = self._left - (above & asked).sum(axis=-1, keepdims=True)
        return np.where(asked, above.astype(np.int64), UNASKED)

    def _drawn(self, queries: Answer) -> Answer:
        """The threshold with its noise, once for each stacked sequence, in steps of the queries."""
        level = math.floor(Fraction(self._mechanism.threshold) / Fraction(2) ** queries.grid.exponent)
        scale = queries.scale(self._mechanism.threshold_multiplier(queries.monotone), "linf")
        noise = rounded_laplace(self._bits, (*queries.steps.shape[:-1], 1), scale)
        return dataclasses.replace(queries, steps=min(max(level, -FARTHEST), FARTHEST) + noise)


@dataclass(frozen=True)
class NumericSparseVector(CheckedParameters):
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
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        _check("NumericSparseVector", self.epsilon, self.threshold, self.count)

    @property
    def event(self) -> PureLoss:
        return PureLoss(upwards(2 * Fraction(self.epsilon / 2)))

    def release(self, answer: Answer, bits: Bits) -> Array:
        """For each query its noisy value if found above, else nan; one row per stacked answer."""
        found = SparseVector(self.epsilon / 2, self.threshold, self.count).release(answer, bits)
        multiplier = 2 * self.count / Fraction(self.epsilon)
        answer = answer.coarsened(multiplier, "linf")
        noise = rounded_laplace(bits, answer.steps.shape, answer.scale(multiplier, "linf"))
        return np.where(found == ABOVE, answer.noised(noise), np.nan)

    def worst_neighbors(self) -> NeighborPair:
        """One query at the threshold that rises."""
        bound = Bound("linf", 1.0)
        return NeighborPair(whole_numbers([0], bound), whole_numbers([1], bound))
