"""The median mechanism with a sample of candidates, for universes whose databases cannot be listed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.online.online_queries import OnlineMechanism
from discreet.mechanisms.online.queries import Queries, distance, on_one_grid
from discreet.mechanisms.online.weighted_histogram import WeightedHistogram
from discreet.noise.bars import exponentials


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
        """The threshold."""
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
