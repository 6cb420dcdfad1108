"""How wide an interval is that is made of the votes of blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincc, ndtri, stdtrit

from discreet.core.grid import Array
from discreet.statistics.fits.block_slopes import FARTHEST

FEW = 7.0  # nats: block slopes are taken to spread over a thousandth of their scale at least
CLOSE, MOST_TOGETHER = 0.1, 8  # see `VoteWidth.together`
SURE = 5.0  # nats by which the middle must outweigh all that is far from it


@dataclass(frozen=True)
class VoteWidth:
    """How far the released middle of block slopes may be from the exact slopes.

    The share of blocks whose slope is below the true one varies as sampling does, and the rank of what is released as
    noise does; the half-width of both together is taken to be the root of the sum of squares of theirs. Ranks become
    slopes by how far the nearest slope of a few blocks is from the released one, as Student's law has it: least squares
    slopes of blocks follow it where errors and columns are normal, with as many degrees of freedom as a block has
    records less columns.

    Parameters
    ----------
    columns, blocks, size, deals : int
        Public. How many columns, blocks, records in each, and deals there are.
    steepness, spread_steepness : float
        Public. Of the depth of slopes, and of that of their distances, for each block of a deal.
    confidence : float
        Of the interval.
    population : bool
        Whether it is for the slopes of the population; else for the middle of the slopes of all blocks of these data,
        of which those that were dealt are a random part.
    """

    columns: int
    blocks: int
    size: int
    deals: int
    steepness: float
    spread_steepness: float
    confidence: float
    population: bool = True

    @property
    def _free(self) -> int:
        """Degrees of freedom."""
        return self.size - self.columns

    @property
    def overlap(self) -> float:
        """The variance of the share of blocks below the true slope over all deals, in units of that of one deal.

        It is `size` times the correlation of two blocks' signs that have one record in common (Hoeffding 1948). Fitted
        to simulated normal data to within a twentieth; 2 / 9 for pairs is Kendall's (1938), and 2 / pi is the limit for
        large blocks.
        """
        return 2 / math.pi * (self._free - 0.2 - 0.27 / self.columns) / (self.size - 0.45)

    @property
    def noise(self) -> float:
        """Half the width for noise alone, as a share of the blocks: `box_depth.md`."""
        d, outside = self.columns, 1 - self.confidence
        ranks = brentq(lambda x: gammaincc(d + 1, x) - x / d * gammaincc(d, x) - outside, 1e-12, 100.0 * (d + 1))
        return float(ranks) / (self.steepness * self.blocks)

    @property
    def share(self) -> float:
        """Half the width, as a share of the blocks."""
        normal = float(ndtri(0.5 + self.confidence / 2))
        sampling = (self.overlap * self.population + (1 - self.overlap) / self.deals) / (4 * self.blocks)
        return math.sqrt(normal**2 * sampling + self.noise**2)

    @property
    def together(self) -> int:
        """How many blocks are taken together for distances: as many as leave noise a part of `CLOSE` in them, about.

        The nearest slope of more blocks is nearer to the middle, so that less depends on the law of slopes.
        """
        return min(max(int(CLOSE / self.off(1)), 1), MOST_TOGETHER)

    def off(self, together: int) -> float:
        """The relative deviation that noise gives a median of nearest distances, for this many blocks together."""
        ranks = math.sqrt((self.columns + 1) * (self.columns + 2) / 3) / self.spread_steepness * together / self.blocks
        part = 0.5 ** (1 / together)
        steep = float(stdtrit(self._free, 1.005 - part / 2) - stdtrit(self._free, 0.995 - part / 2)) / 0.01
        return ranks * steep * part / together / self._nearest(together)

    def _nearest(self, together: int) -> float:
        """The median nearest distance of these blocks by Student's law: P(one distance is greater)^together = 1/2."""
        return float(stdtrit(self._free, 1 - 0.5 ** (1 / together) / 2))

    def reach(self, distances: Array) -> Array:
        """Half the width for each slope, from median nearest distances; infinite if blocks are too few.

        They are too few if points that are far from all slopes, being many more, may outweigh those in the middle.
        A relative error e of the distances costs z^2 e^2 / 2 of the width.
        """
        weight, far = self.steepness * self.blocks / 2, np.maximum(-np.log(distances), FEW).sum()
        if weight < far + SURE or self.share > 0.45:
            return np.full(self.columns, math.inf)
        normal, together = float(ndtri(0.5 + self.confidence / 2)), self.together
        widening = float(stdtrit(self._free, 0.5 + self.share)) / self._nearest(together)
        reach = distances * widening * (1 + (normal * self.off(together)) ** 2 / 2)
        return np.where(distances < FARTHEST / 2, reach, math.inf)
