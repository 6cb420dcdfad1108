"""The median mechanism: queries are answered by the median of the databases that fit all answers so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, upwards
from discreet.core.held import unheld
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.online.multiplicative_weights import WeightedHistogram
from discreet.mechanisms.online.net import databases, orders
from discreet.mechanisms.online.online_queries import OnlineMechanism
from discreet.mechanisms.online.queries import Queries, distance, on_one_grid
from discreet.noise.error_bars import exponentials

AGREED = 0.75  # the least agreement with the exact answer of an easy query
FITTING = 1 / 50  # tolerances within which a database fits a measured answer
FINENESS = 30  # bits of an agreement


@dataclass(frozen=True)
class MedianMechanism(OnlineMechanism):
    """Answer counting queries by the median of all databases of `size` records that fit the answers measured so far.

    As published, on a universe so small that those databases can be listed. A query is easy if most of them nearly
    agree with its exact answer, and gets their median; a hard one gets a noisy answer, and the databases that are more
    than a fiftieth of the tolerance away from that are dropped. Where none would be left, none is dropped.

    Which queries are hard is found by the sparse vector technique, in place of the published test, whose constants make
    it useless at any size that could be run: `median_mechanism.md` has the figures. For larger universes there is
    `SampledMedian`.

    Parameters
    ----------
    epsilon : float
        Public. Pure epsilon of everything (alpha in the paper).
    updates : int
        Public. How many queries may be found hard.
    queries : Queries
        Public. What `release` answers, in this order.
    tolerance : float
        Public. How far off an answer may be, in records (epsilon in the paper, as a share of all).
    size : int
        Public. How many records the databases have (m in the paper).

    Guarantee
    ---------
    `PureLoss(epsilon / 2)` for all tests, and `updates` + 1 times Laplace noise for the total and the measured answers;
    everything else is computed from these releases. Roth and Roughgarden 2010, with the test of Lyu, Su and Li 2017:
    `multiplicative_weights.md`. One record moves an agreement, a mean of exp(-|difference| / tolerance), by at most
    1 / tolerance.

    Examples
    --------
    >>> MedianMechanism(epsilon=1.0).event.events[0]
    PureLoss(epsilon=0.5)
    """

    tolerance: float = 2.0
    size: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2.0**-10 <= self.tolerance < math.inf:
            raise ParameterError("MedianMechanism", f"tolerance is {self.tolerance}", "Give at least 2**-10 records.")
        databases(self.queries.cells, self.size)

    @property
    def threshold_of_doubt(self) -> float:
        """One minus the agreement that makes a query easy."""
        return 1 - AGREED

    def hypothesis(self, total: Array, bits: Bits) -> Fitting:
        """All databases."""
        return Fitting(total, databases(self.queries.cells, self.size) / self.size, self.tolerance, self.size)


@unheld("releases")
class Fitting:
    """The databases that fit all measured answers, each with the number of its orders as weight.

    Parameters
    ----------
    total : array
        Noisy numbers of records, to which the databases are scaled up.
    shares : array, shape (databases, cells)
        All databases.
    tolerance : float
        Public. As in `MedianMechanism`.
    size : int
        Public. As in `MedianMechanism`.
    """

    def __init__(self, total: Array, shares: Array, tolerance: float, size: int) -> None:
        self._total, self._shares, self._tolerance = np.maximum(total, 1.0)[..., None], shares, tolerance
        weights = orders(np.rint(shares * size).astype(np.int64))
        self._weights = np.broadcast_to(weights, (*total.shape, len(weights))).copy()

    def guesses(self, query: Queries) -> Array:
        """The weighted median of their answers."""
        shares = query.answers(self._shares)[:, 0]
        order = np.argsort(shares)
        below = np.cumsum(self._weights[..., order], axis=-1)
        middle = (below < below[..., -1:] / 2).sum(axis=-1)
        return self._total[..., 0] * shares[order][middle]

    def doubts(self, query: Queries, guesses: Array, exact: Answer) -> Answer:
        """One minus the agreement, on a grid of 2**-30; two steps of slack are for flooring and rounding in float64."""
        apart = np.abs(exact.grid.values(exact.steps) - self._said(query)) / self._tolerance
        agreement = np.average(np.exp(-apart), axis=-1, weights=self._weights)[..., None]
        moved = upwards(Fraction(exact.sensitivity("linf")) / Fraction(self._tolerance))
        steps = np.floor(np.ldexp(1 - agreement, FINENESS)).astype(np.int64)
        return Answer(steps, Grid(-FINENESS), Bound("linf", moved), Neighbors.ADD_REMOVE, slack=2.0)

    def learn(self, query: Queries, measured: Array, where: NDArray[np.bool_]) -> None:
        """Drop those that do not fit."""
        fits = np.abs(self._said(query) - measured[..., None]) <= FITTING * self._tolerance
        kept = np.where(fits, self._weights, 0.0)
        some = where & (kept > 0).any(axis=-1)
        self._weights = np.where(some[..., None], kept, self._weights)

    def _said(self, query: Queries) -> Array:
        """The answer of each database, scaled up."""
        return self._total * query.answers(self._shares)[:, 0]


@dataclass(frozen=True)
class SampledMedian(OnlineMechanism):
    """Answer counting queries by the median of candidate histograms that fit the answers measured so far.

    Each candidate starts from shares that are uniform over all histograms. When an answer is measured, each is
    reweighted (see `WeightedHistogram`) towards that answer and those before, all with further noise of the candidate's
    own: so candidates differ as much as the answers allow. A query gets their median, unless a noisy test finds that
    too far off.

    This is the efficient version of Roth and Roughgarden in spirit: they draw candidates by a random walk among all
    histograms that are within a tolerance of the answers. Nothing that is promised depends on how candidates are made.

    Parameters
    ----------
    epsilon : float
        Public. Pure epsilon of everything.
    updates : int
        Public. How many answers may be measured; from then on medians are given untested.
    queries : Queries
        Public. What `release` answers, in this order. `OnlineQueries` (see `opening`) take any queries.
    threshold : float
        Public. How far off a median may be, in records; see `MultiplicativeWeights`.
    candidates : int
        Public. How many candidates there are; an odd number has a plain median.

    Guarantee
    ---------
    `PureLoss(epsilon / 2)` for all tests, and `updates` + 1 times Laplace noise for the total and the measured answers;
    everything else is computed from these releases and from noise that does not depend on any record. Roth and
    Roughgarden 2010, with the test of Lyu, Su and Li 2017: `multiplicative_weights.md`.

    Examples
    --------
    >>> SampledMedian(epsilon=1.0).event.events[0]
    PureLoss(epsilon=0.5)
    """

    threshold: float = 1.0
    candidates: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.threshold):
            raise ParameterError("SampledMedian", f"threshold is {self.threshold}", "Give a finite threshold.")
        check_whole("SampledMedian", "candidates", self.candidates)

    @property
    def threshold_of_doubt(self) -> float:
        return self.threshold

    def hypothesis(self, total: Array, bits: Bits) -> Candidates:
        """Candidates that are spread over all histograms, evenly: shares of independent exponential variables."""
        shape = (*total.shape, self.candidates)
        shares = _exponential(bits, (*shape, self.queries.cells))
        return Candidates(
            WeightedHistogram(np.broadcast_to(total[..., None], shape), shares), self.noise.multiplier, bits
        )


@dataclass(frozen=True)
class Candidates:
    """The hypothesis of the sampled median mechanism."""

    weighted: WeightedHistogram
    spread: float
    bits: Bits

    def guesses(self, query: Queries) -> Array:
        """The median of their answers."""
        return np.median(self.weighted.answers(query)[..., 0], axis=-1)

    def doubts(self, query: Queries, guesses: Array, exact: Answer) -> Answer:
        """How far that is from the exact answers."""
        return on_one_grid(distance(exact, guesses[..., None]), query)

    def learn(self, query: Queries, measured: Array, where: NDArray[np.bool_]) -> None:
        """Reweight each towards an answer with Laplace noise of its own: the difference of two exponential draws."""
        shape = self.weighted.total.shape
        noise = self.spread * (_exponential(self.bits, shape) - _exponential(self.bits, shape))
        self.weighted.learn(query.row, measured[..., None] + noise, np.broadcast_to(where[..., None], shape))


def _exponential(bits: Bits, shape: tuple[int, ...]) -> Array:
    return exponentials(bits.words(math.prod(shape))).value.reshape(shape) + 2.0**-60
