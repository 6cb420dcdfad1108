"""Private multiplicative weights: a price for many counting queries that grows only with those guessed badly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.online.online_queries import MEASURED, OnlineMechanism
from discreet.mechanisms.online.queries import Queries, distance, on_one_grid
from discreet.mechanisms.online.weighted_histogram import WeightedHistogram


@dataclass(frozen=True)
class MultiplicativeWeights(OnlineMechanism):
    """Answer counting queries on a histogram from a public one, which is corrected where it is found to be far off.

    The public histogram starts with equal shares. A query whose exact answer is farther from it than the threshold,
    both with noise, gets a noisy answer, and the public histogram is reweighted towards that. A public histogram over c
    cells needs few corrections (see `WeightedHistogram.learn`), so most answers cost nothing.

    Records are counted, not shares of them, so their number need not be public: it is measured first.

    Parameters
    ----------
    epsilon : float
        Public. Pure epsilon of everything.
    updates : int
        Public. How many answers may be measured; from then on guesses are given untested.
    queries : Queries
        Public. What `release` answers, in this order. `OnlineQueries` (see `opening`) take any queries.
    threshold : float
        Public. How far off a guess may be, in records. Below `tests.margin(1 / number of queries)`, noise alone would
        use the updates up.

    Guarantee
    ---------
    `PureLoss(epsilon / 2)` for all tests, and `updates` + 1 times Laplace noise for the total and the measured answers,
    for any queries, also those that depend on earlier answers. Hardt and Rothblum 2010; with the sparse vector
    technique of Lyu, Su and Li 2017, used together: `multiplicative_weights.md`.

    Examples
    --------
    >>> MultiplicativeWeights(epsilon=1.0, updates=3).event.events[0]
    PureLoss(epsilon=0.5)
    """

    threshold: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.threshold):
            raise ParameterError("MultiplicativeWeights", f"threshold is {self.threshold}", "Give a finite threshold.")

    @property
    def threshold_of_doubt(self) -> float:
        """The threshold."""
        return self.threshold

    def hypothesis(self, total: Array, bits: Bits) -> PublicHistogram:
        """Equal shares of the total."""
        return PublicHistogram(WeightedHistogram(total, np.ones((*total.shape, self.queries.cells))))

    def histogram(self, release: Array) -> Array:
        """The public histogram at the end of `release`, which anybody can compute from it."""
        values, sources = release[..., 0, :], release[..., 1, :]
        weighted = WeightedHistogram(values[..., 0], np.ones((*values.shape[:-1], self.queries.cells)))
        for place in range(len(self.queries)):
            where = sources[..., place + 1] == MEASURED
            if where.any():
                weighted.learn(self.queries[place].row, values[..., place + 1], where)
        return weighted.counts


@dataclass(frozen=True)
class PublicHistogram:
    """The hypothesis of private multiplicative weights."""

    weighted: WeightedHistogram

    def guesses(self, query: Queries) -> Array:
        """The answers of the histogram."""
        return self.weighted.answers(query)[..., 0]

    def doubts(self, query: Queries, guesses: Array, exact: Answer) -> Answer:
        """How far that is from the exact answers."""
        return on_one_grid(distance(exact, guesses[..., None]), query)

    def learn(self, query: Queries, measured: Array, where: NDArray[np.bool_]) -> None:
        """Reweight it."""
        self.weighted.learn(query.row, measured, where)
