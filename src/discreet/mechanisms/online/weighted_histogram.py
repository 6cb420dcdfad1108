"""A public histogram that is reweighted, by multiplicative weights, towards noisy answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.mechanisms.online.queries import Queries

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
