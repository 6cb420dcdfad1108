"""Several quantiles and the ends of their intervals, by one search."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.ranks.quantiles import Quantiles
from discreet.releases.spread import Spread
from discreet.statistics.ranks.rank_width import Found, RankWidth

ITERATIONS = 4
UNIT = Spread(Laplace(), math.sqrt(2))
SIDES = np.array([[-1.0], [0.0], [1.0]])


@dataclass(frozen=True)
class BracketedQuantiles:
    """Quantiles that are searched for together with the ends of their intervals.

    The ends are quantiles of levels on both sides, so far away that noise and, for a population, sampling cross them
    as rarely as the confidence says: see `RankWidth`. All are found by one mechanism, whose halves serve values and
    ends alike.

    Parameters
    ----------
    levels : tuple of float
        Public. Of the quantiles: in [0, 1], ascending.
    confidence : float
        Public. Of each interval.
    population : bool
        Public. Whether intervals are for the population.
    number : float
        Of all values: released, or public.
    search : Quantiles
        Public. A mechanism for three times as many levels; which ones, is set here.
    rows, neighbors
        Public. Of a unit, and the relation.

    Examples
    --------
    >>> search = Quantiles(1.0, 3 * (0.0,))
    >>> median = BracketedQuantiles((0.5,), 0.95, False, 1000.0, search, 1, Neighbors.ADD_REMOVE)
    >>> [round(level, 3) for level in median.mechanism.q]
    [0.487, 0.5, 0.513]
    """

    levels: tuple[float, ...]
    confidence: float
    population: bool
    number: float
    search: Quantiles
    rows: int
    neighbors: Neighbors

    @property
    def mechanism(self) -> Quantiles:
        """What is asked for."""
        return self._sought(self._shares)

    def read(self, released: Array) -> Found:
        """Values and intervals, of what was found: post-processing."""
        shares = self._shares
        found = np.empty(shares.size)
        found[np.argsort(shares, axis=None, kind="stable")] = released
        low, values, high = np.where(shares <= 0, self.search.lower, found.reshape(shares.shape))
        high = np.where(shares[2] >= 1, self.search.upper, high)
        ends = np.stack([np.minimum(low, values), np.maximum(high, values)])
        return Found(values, ends, np.array([width.sampling for width in self._widths[2]]))

    @cached_property
    def _shares(self) -> Array:
        """Of lower ends, values and upper ends."""
        away = np.array([[width.away for width in side] for side in self._widths])
        return np.clip(np.array(self.levels) + SIDES * away, 0.0, 1.0)

    @cached_property
    def _widths(self) -> list[list[RankWidth]]:
        """Noise depends on where the ends are: a few iterations settle it."""
        noise = np.zeros((len(SIDES), len(self.levels)))
        for _ in range(ITERATIONS):
            widths = [[self._width(*one) for one in zip(self.levels, side, strict=True)] for side in noise.tolist()]
            away = np.array([[width.away for width in side] for side in widths])
            shares = np.clip(np.array(self.levels) + SIDES * away, 0.0, 1.0)
            scales = self._sought(shares).scales(self.rows, self.neighbors)
            places = np.argsort(np.argsort(shares, axis=None, kind="stable"))
            half_widths = [UNIT.half_width(scales[place], self.confidence) for place in places]
            noise = np.array(half_widths).reshape(noise.shape)
        return widths

    def _width(self, q: float, noise: float) -> RankWidth:
        return RankWidth(q, self.number, noise, self.confidence, self.population)

    def _sought(self, shares: Array) -> Quantiles:
        return dataclasses.replace(self.search, q=tuple(np.sort(shares, axis=None).tolist()))
