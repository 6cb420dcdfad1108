"""Slopes of a regression that are in the middle of what small blocks of records say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.ranks.box_depth import BoxDepth
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.mechanisms.stable.sample_and_aggregate import SampleAndAggregate
from discreet.releases.spread import CONFIDENCE
from discreet.statistics.fits.block_slopes import (
    FARTHEST,
    NEAREST,
    Band,
    BlockDistances,
    BlockSlopes,
    squeezed,
    stretched,
)
from discreet.statistics.fits.dealing import CELLS, COUNT, INTERCEPT, Blocks, Dealing, ScaledFit
from discreet.statistics.fits.vote_width import VoteWidth
from discreet.trust.permit import Permit

SPREAD = 0.22  # what intervals get of the price; slopes get the rest
ROUGH, BAND = 0.45, 0.08  # of that, what a first fit and a band around it get
END = float(squeezed(np.array(FARTHEST)))
SLOPES, SPREADS = BoxDepth(1.0, -END, END, CELLS), BoxDepth(1.0, NEAREST, math.log2(2 * FARTHEST), CELLS)
KEPT = 4 / 0.6745  # median distances: four deviations, if errors are normal


@dataclass(frozen=True)
class SlopesByDepth:
    """By the exponential mechanism on the depth of slopes among those of blocks.

    Parameters
    ----------
    of : Blocks
        Public. The blocks.
    deals, max_iter, confidence, population
        Public. As for `robust_regression`.
    """

    of: Blocks
    deals: int
    max_iter: int
    confidence: float | None
    population: bool

    @property
    def parts(self) -> tuple[Any, ...]:
        """What is paid for, at a price of 1 in all: a count; a first fit and its band; slopes, spread, intercept."""
        count = self.of.parts
        spread = () if self.confidence is None else (SampleAndAggregate(SPREAD, SPREADS),)
        rest = 1 - INTERCEPT - COUNT * len(count) - SPREAD * len(spread)
        first = (SampleAndAggregate(ROUGH * rest, SLOPES), *2 * (SampleAndAggregate(BAND / 2 * rest, Quantile()),))
        share = 1 if self.max_iter == 1 else 1 - ROUGH - BAND
        slopes, intercept = SampleAndAggregate(share * rest, SLOPES), SampleAndAggregate(INTERCEPT, Quantile())
        return (*count, *first * (self.max_iter - 1), slopes, *spread, intercept)

    def check(self, mechanisms: tuple[Any, ...]) -> None:
        """Refuse, before anything is charged, what noise could make too large."""
        self.of.check(mechanisms)

    def found(self, permit: Permit, mechanisms: tuple[Any, ...]) -> ScaledFit:
        """The fit, for a permit that pays for these mechanisms."""
        dealing, rest = self.of.opened(permit, mechanisms), mechanisms[len(self.of.parts) :]
        band, rest = (None, rest) if self.max_iter == 1 else (self._band(dealing, rest), rest[3:])
        slopes = stretched(dealing.asked(rest[0], BlockSlopes(dealing.frame, band), self.deals))
        reach = None if self.confidence is None else self._reach(dealing, rest, tuple(slopes.tolist()), band)
        return ScaledFit(slopes, reach, dealing.residual(rest[-1], tuple(slopes.tolist())), dealing.blocks)

    def _band(self, dealing: Dealing, mechanisms: tuple[Any, ...]) -> Band:
        """Around a first fit, as wide as four deviations of its residuals."""
        found = stretched(dealing.asked(mechanisms[0], BlockSlopes(dealing.frame), self.deals))
        slopes = tuple(found.tolist())
        middle = dealing.residual(mechanisms[1], slopes)
        return Band(slopes, middle, KEPT * dealing.residual(mechanisms[2], slopes, middle))

    def _reach(
        self, dealing: Dealing, mechanisms: tuple[Any, ...], slopes: tuple[float, ...], band: Band | None
    ) -> Array:
        """How far the slopes may be off, from the distances of the blocks' slopes to them."""
        rows = self.of.data.unit.rows
        own, spread = (one.mechanism.steepness(Neighbors.REPLACE) / rows for one in mechanisms[:2])
        blocks, confidence = dealing.blocks, self.confidence or CONFIDENCE
        width = VoteWidth(len(slopes), blocks, dealing.size, self.deals, own, spread, confidence, self.population)
        of = BlockDistances(dealing.frame, band, slopes, width.together)
        return width.reach(2.0 ** dealing.asked(mechanisms[1], of, self.deals, width.together))
