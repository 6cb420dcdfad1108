"""Private multiplicative weights: a price for many counting queries that grows only with those guessed badly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.mechanisms.online.online_queries import MEASURED, OnlineMechanism
from discreet.mechanisms.online.queries import Queries, distance, on_one_grid

SWEEPS = 10  # times that all answers so far are fitted
STEEPEST = 4.0  # see `WeightedHistogram.learn`


@dataclass(frozen=True)
class _Measured:
    """A query, its noisy answers as shares of the total, and which histograms learn from it."""

    weights: Array
    shares: Array
    where: NDArray[np.bool_]


@unheld("releases")
class WeightedHistogram:
    """A public histogram, from which queries are answered between measurements: a total, and the share of each cell.

    Leading axes stack histograms that learn independently.

    Parameters
    ----------
    total : array
        A noisy number of records for each histogram; at least 1 is used.
    shares : array, shape (..., cells)
        Where each histogram starts: positive numbers, to be scaled so that they add up to 1.

    Examples
    --------
    >>> guess = WeightedHistogram(np.array(100.0), np.ones(4))
    >>> guess.learn(np.array([1, 1, 0, 0]), np.array(80.0))
    >>> guess.answers(Queries([[1, 1, 0, 0], [0, 1, 1, 0]])).round(1)
    array([80., 50.])
    """

    def __init__(self, total: Array, shares: Array) -> None:
        self.total = np.maximum(total, 1.0)
        self.shares = shares / shares.sum(axis=-1, keepdims=True)
        self._scratch = np.empty_like(self.shares)
        self._past: list[_Measured] = []

    @property
    def counts(self) -> Array:
        """The histogram."""
        return self.total[..., None] * self.shares

    def answers(self, queries: Queries) -> Array:
        """Its answers, along the last axis."""
        return self.total[..., None] * queries.answers(self.shares)

    def learn(self, weights: NDArray[Any], measured: Array, where: NDArray[np.bool_] | None = None) -> None:
        """Fit a noisy answer, and those before it once more.

        Reweighting by a query q, to which the exact histogram answers p and this one q(w), multiplies each share by 1 +
        (e^t - 1) q and divides by their new sum. ln(1 + (e^t - 1) q) is at least t q, being concave in q, and the
        logarithm of the sum at most t q(w) + t^2 / 8 (Hoeffding's lemma, 1963). So the divergence of the exact
        histogram from this one falls by t (p - q(w)) - t^2 / 8 at least: the most at t = 4 (p - q(w)), by 2 (p -
        q(w))^2. It starts at ln(cells) or below, where all shares are equal, and is never negative. Hence at most
        ln(cells) / (2 a^2) answers can be off by a share of a: the argument of Hardt and Rothblum 2010, with a better
        constant.

        Parameters
        ----------
        weights : array, shape (cells,) or (..., cells)
            Public. The query; or one for each histogram.
        measured : array
            Its noisy answers, in records.
        where : array of bool, optional
            Which histograms learn; all where not given.
        """
        self.note(weights, measured, where)
        self.fit()

    def note(self, weights: NDArray[Any], measured: Array, where: NDArray[np.bool_] | None = None) -> None:
        """Keep a noisy answer for the next fit."""
        where = np.ones(self.total.shape, dtype=np.bool_) if where is None else where
        shares = np.clip(measured / self.total, 0.0, 1.0)
        self._past.append(_Measured(np.asarray(weights, dtype=np.float64), shares, where))

    def fit(self, times: int = 1) -> None:
        """Reweight by all answers so far, the last ones first."""
        for _ in range(times * SWEEPS):
            for one in reversed(self._past):
                self._reweight(one)

    def _reweight(self, one: _Measured) -> None:
        now = np.einsum("...i,...i->...", self.shares, one.weights)
        factor = np.where(one.where, np.expm1(STEEPEST * (one.shares - now)), 0.0)
        after = self.shares.sum(axis=-1) + factor * now  # not 1 + ...: rounding would grow with every sweep
        np.multiply(np.asarray(factor / after)[..., None], one.weights, out=self._scratch)
        self._scratch += np.asarray(1 / after)[..., None]
        self.shares *= self._scratch


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
