"""Quantiles of a stream, after every record."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg import toeplitz
from scipy.signal import lfilter
from scipy.special import ndtri

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.counters.square_root_factor import BINARY, square_root_factor
from discreet.sequential.online_statistics.online_statistic import (
    DiameterBound,
    OnlineEstimate,
    OnlineStatistic,
    on_a_grid,
)

MOST = 1024
PLACES = 17  # after the binary point, of the weights of cells: no finer than the grid of a counter


@dataclass(frozen=True)
class _Spread:
    """How the noise on the number of records tells of that on other ranks, and what is left of it at each level."""

    tied: Array
    of_levels: Array


@dataclass(frozen=True, eq=False)
class OnlineQuantiles(OnlineStatistic[tuple[OnlineEstimate, ...]]):
    """Release quantiles of all records so far, after every update.

    Numbers of records up to each edge of equal cells are running sums over values, of running sums over time. Both are
    divided into square roots, with the noise between them, so that it grows with the logarithms of the number of cells
    and of the time.

    Parameters
    ----------
    q : float or sequence of float
        Public. The levels, in [0, 1].
    bins : int
        Public. How many equal cells, up to 1,024. Quantiles are interpolated between their edges.

    Guarantee
    ---------
    `noise.event` for all releases together: that of `SquareRootCounter` or `DoublingCounter`. A record adds a column of
    the square root of the matrix that sums up cells, whose length is at most that of the first; under replace one
    column takes the place of another, and the farthest two are looked for.

    With the given confidence, each interval holds the cell of the exact quantile at that time: a cell is left out if
    the noisy number of records up to its lower edge is too large, or that up to its upper edge too small, each with
    half of the chance of an error.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Gaussian
    >>> online = OnlineQuantiles(0.5, (0.0, 1.0), Gaussian(0.01), horizon=1000).open(Budget(1e4, 1e-6))
    >>> for value in np.linspace(0, 1, 101):
    ...     (median,) = online.update(value)
    >>> round(median.value, 1)
    0.5
    """

    purpose: ClassVar[str] = "online quantiles"

    q: float | Sequence[float]
    bounds: tuple[float, float]
    noise: Additive
    horizon: int | None = None
    _: KW_ONLY
    bins: int = 64
    neighbors: Neighbors = Neighbors.REPLACE
    contributions: int = 1
    confidence: float = 0.95

    def check(self) -> None:
        if self.levels.ndim != 1 or not len(self.levels) or not ((self.levels >= 0) & (self.levels <= 1)).all():
            raise ParameterError(self.purpose, f"q is {self.q!r}", "Give levels between 0 and 1.")
        check_whole(self.purpose, "bins", self.bins, least=2, most=MOST)

    @property
    def levels(self) -> Array:
        """All levels, also where there is one."""
        return np.atleast_1d(np.asarray(self.q, np.float64))

    @property
    def size(self) -> int:
        """One sum for each cell."""
        return self.bins

    @cached_property
    def weights(self) -> Array:
        """The first column of the square root, in binary places that the grid of a counter has."""
        return np.ldexp(np.rint(np.ldexp(square_root_factor(self.bins).numerators, PLACES - BINARY)), -PLACES)

    @cached_property
    def left(self) -> Array:
        """What sums up what weights leave."""
        return np.cumsum(lfilter([1.0], self.weights, np.eye(1, self.bins)[0]))

    @cached_property
    def vector_bound(self) -> DiameterBound:
        """The length of the first column, and how far two are apart."""
        columns = toeplitz(self.weights, np.zeros(self.bins))
        products = columns.T @ columns
        squares = products.diagonal()
        farthest = math.sqrt(float((squares[:, None] + squares - 2 * products).max()))
        apart = on_a_grid(farthest, self.bins, self.noise.multiplier, self.contributions)
        return DiameterBound("l2", math.sqrt(squares[0]) * (1 + 2.0**-30), nonnegative=True, apart=apart)

    def added(self, value: float | None) -> Array:
        """A column of the square root."""
        unit, added = self.unit(value), np.zeros(self.bins)
        if not (math.isnan(unit) and self.counted):
            share = 0.5 if math.isnan(unit) else (unit + 1) / 2
            cell = min(int(share * self.bins), self.bins - 1)
            added[cell:] = self.weights[: self.bins - cell]
        return added

    @cached_property
    def _spread(self) -> _Spread:
        rows = toeplitz(self.left, np.zeros(self.bins))  # how ranks depend on the sums
        tied = np.zeros(self.bins) if self.counted else rows @ rows[-1] / (rows[-1] @ rows[-1])
        rows = rows - tied[:, None] * rows[-1]
        return _Spread(tied, np.stack([np.linalg.norm(rows - q * rows[-1], axis=1) for q in self.levels]))

    def released(self, sums: Array, time: int) -> tuple[OnlineEstimate, ...]:
        """What noisy sums show, after so many updates, for each level: post-processing.

        Where the number of records is known, the noise on it tells of that on other ranks.
        """
        ranks, stddev = np.convolve(self.left, sums)[: self.bins], self.counter.stddev(time)
        ranks = ranks - self._spread.tied * (ranks[-1] - time)
        levels = zip(self.levels, self._spread.of_levels, strict=True)
        return tuple(self._estimate(ranks, *each, stddev) for each in levels)

    def _estimate(self, ranks: Array, q: float, spread: Array, stddev: float) -> OnlineEstimate:
        excess = ranks - q * ranks[-1]
        margin = float(ndtri(0.5 + self.confidence / 2)) * stddev * spread
        edges = np.linspace(self.column.lower, self.column.upper, self.bins + 1)
        ends, starts = np.flatnonzero(excess + margin >= 0), np.flatnonzero(excess[:-1] - margin[:-1] < 0)
        low = edges[int(ends[0])] if len(ends) else edges[-2]
        high = edges[int(starts[-1]) + 2] if len(starts) else edges[1]
        rising = (np.maximum.accumulate(excess) + np.minimum.accumulate(excess[::-1])[::-1]) / 2
        return OnlineEstimate(_crossing(edges, rising, -q * ranks[-1]), float(min(low, high)), float(max(low, high)))


def _crossing(edges: Array, rising: Array, start: float) -> float:
    """Where what rises from edge to edge reaches zero."""
    cell = min(int(np.searchsorted(rising, 0.0)), len(rising) - 1)
    before = float(start if cell == 0 else rising[cell - 1])
    step = float(rising[cell]) - before
    share = min(max(-before / step, 0.0), 1.0) if step > 0 else 0.5
    return float(edges[cell] + share * (edges[cell + 1] - edges[cell]))
