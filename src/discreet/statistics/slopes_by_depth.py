"""Slopes of a regression that are in the middle of what small blocks of records say."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincc, ndtri, stdtrit

from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.core.question import AllRecords
from discreet.mechanisms.dealt_blocks import DealtBlocks
from discreet.mechanisms.deep_point import DeepPoint
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import Quantile
from discreet.statistics.block_slopes import (
    FARTHEST,
    NEAREST,
    Band,
    BlockDistances,
    BlockSlopes,
    Frame,
    Residuals,
    squeezed,
    stretched,
)
from discreet.statistics.count import count_of
from discreet.statistics.noise import CONFIDENCE
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData

COUNT, INTERCEPT, SPREAD = 0.03, 0.1, 0.22  # what these get of the price; slopes get the rest
ROUGH, BAND = 0.45, 0.08  # of that, what a first fit and a band around it get
CELLS = 2**40
END = float(squeezed(np.array(FARTHEST)))
SLOPES, SPREADS = DeepPoint(1.0, -END, END, CELLS), DeepPoint(1.0, NEAREST, math.log2(2 * FARTHEST), CELLS)
KEPT = 4 / 0.6745  # median distances: four deviations, if errors are normal
FEW = 7.0  # nats: block slopes are taken to spread over a thousandth of their scale at least
CLOSE, MOST_TOGETHER = 0.1, 8  # see `VoteWidth.together`
SURE = 5.0  # nats by which the middle must outweigh all that is far from it


@dataclass(frozen=True)
class Fit:
    """Slopes and intercept of scaled columns.

    Parameters
    ----------
    slopes : array
        One for each column; nan where there is no answer.
    reach : array or None
        Half the width of an interval around each slope, where asked for; infinite where nothing can be said.
    intercept : float
        The target in the middle of the bounds of all columns.
    blocks : int
        How many blocks each deal had.
    """

    slopes: Array
    reach: Array | None
    intercept: float
    blocks: int


@dataclass(frozen=True)
class Blocks:
    """Which blocks records are dealt into. All of it public.

    Parameters
    ----------
    data : PrivateData
        The records.
    frame : Frame
        The columns.
    number : int or None
        Of blocks; as many as there are small ones for the records, where none is given.
    """

    data: PrivateData
    frame: Frame
    number: int | None

    @property
    def parts(self) -> tuple[Any, ...]:
        """What their number costs, at a price of 1 in all: nothing, where the number of records is public."""
        return () if self.data.public_size is not None else (Laplace(1 / COUNT),)

    def opened(self, permit: Permit, mechanisms: tuple[Any, ...]) -> Dealing:
        """The number of blocks, and of places in each, for a permit that pays for these mechanisms."""
        size, known = self.data.public_size, count_of(self.data.schema, self.frame.target)
        records = size if size is not None else round(float(permit.ask(known, mechanisms[0])[0]))
        if self.number is None:
            places = smallest_block(len(self.frame.columns))
            return Dealing(permit, self.frame, max(records // places, 1), places)
        places = max(records // self.number, len(self.frame.columns) + 1)
        return Dealing(permit, self.frame, self.number, places)


def smallest_block(columns: int) -> int:
    """The size of blocks where none is asked for: one record more than fits exactly, but two for a single column.

    The smaller the blocks are, the more of them there are, and the fewer of them does a gross error spoil. A record
    more than fits exactly makes their slopes far less wild. The slopes of pairs, of Theil 1950 and Sen 1968, are
    symmetric about the true one whatever the law of the errors is.
    """
    return 2 if columns == 1 else columns + 2


@dataclass(frozen=True)
class Dealing:
    """So many blocks, with room for so many records each, and a permit to ask them."""

    permit: Permit
    frame: Frame
    blocks: int
    size: int

    def asked(self, mechanism: DealtBlocks, of: BlockSlopes, deals: int = 1, together: int = 1) -> Any:
        """What a mechanism releases about the blocks, or about so many of them together."""
        blocks, size = max(self.blocks // together, 1), self.size * together
        mechanism = dataclasses.replace(mechanism, blocks=blocks, size=size, deals=deals, of=of)
        return self.permit.ask(AllRecords(self.frame.names), mechanism)

    def residual(self, mechanism: DealtBlocks, slopes: tuple[float, ...], middle: float | None = None) -> float:
        """The median residual of single records; or, where a residual is given, the median distance from it."""
        most = 1.0 + float(np.abs(slopes).sum())
        ends = (-most, most) if middle is None else (0.0, 2 * most)
        shared, of = Quantile(mechanism.epsilon, 0.5, *ends, CELLS), Residuals(self.frame, slopes, middle)
        mechanism = DealtBlocks(mechanism.epsilon, shared, of, self.blocks * self.size)
        return float(self.permit.ask(AllRecords(self.frame.names), mechanism))


@dataclass(frozen=True)
class SlopesByDepth:
    """By the exponential mechanism on the depth of slopes among those of blocks.

    Parameters
    ----------
    of : Blocks
        Public. The blocks.
    deals : int
        Public. How often records are dealt.
    rounds : {1, 2}
        Public. In a second round records that are far from the first fit are left out.
    confidence : float or None
        Public. Of intervals for the slopes.
    """

    of: Blocks
    deals: int
    rounds: int
    confidence: float | None

    @property
    def parts(self) -> tuple[Any, ...]:
        """What is paid for, at a price of 1 in all: a count; a first fit and its band; slopes, spread, intercept."""
        count = self.of.parts
        spread = () if self.confidence is None else (DealtBlocks(SPREAD, SPREADS),)
        rest = 1 - INTERCEPT - COUNT * len(count) - SPREAD * len(spread)
        first = (DealtBlocks(ROUGH * rest, SLOPES), *2 * (DealtBlocks(BAND / 2 * rest, Quantile()),))
        share = 1 if self.rounds == 1 else 1 - ROUGH - BAND
        slopes, intercept = DealtBlocks(share * rest, SLOPES), DealtBlocks(INTERCEPT, Quantile())
        return (*count, *first * (self.rounds - 1), slopes, *spread, intercept)

    def found(self, permit: Permit, mechanisms: tuple[Any, ...]) -> Fit:
        """The fit, for a permit that pays for these mechanisms."""
        dealing, rest = self.of.opened(permit, mechanisms), mechanisms[len(self.of.parts) :]
        band, rest = (None, rest) if self.rounds == 1 else (self._band(dealing, rest), rest[3:])
        slopes = stretched(dealing.asked(rest[0], BlockSlopes(dealing.frame, band), self.deals))
        reach = None if self.confidence is None else self._reach(dealing, rest, tuple(slopes.tolist()), band)
        return Fit(slopes, reach, dealing.residual(rest[-1], tuple(slopes.tolist())), dealing.blocks)

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
        width = VoteWidth(len(slopes), blocks, dealing.size, self.deals, own, spread, confidence)
        of = BlockDistances(dealing.frame, band, slopes, width.together)
        return width.reach(2.0 ** dealing.asked(mechanisms[1], of, self.deals, width.together))


@dataclass(frozen=True)
class VoteWidth:
    """How far the released middle of block slopes may be from the population's slopes.

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
    """

    columns: int
    blocks: int
    size: int
    deals: int
    steepness: float
    spread_steepness: float
    confidence: float

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
        """Half the width for noise alone, as a share of the blocks: `deep_point.md`."""
        d, outside = self.columns, 1 - self.confidence
        ranks = brentq(lambda x: gammaincc(d + 1, x) - x / d * gammaincc(d, x) - outside, 1e-12, 100.0 * (d + 1))
        return float(ranks) / (self.steepness * self.blocks)

    @property
    def share(self) -> float:
        """Half the width, as a share of the blocks."""
        normal = float(ndtri(0.5 + self.confidence / 2))
        sampling = (self.overlap + (1 - self.overlap) / self.deals) / (4 * self.blocks)
        return math.sqrt(normal**2 * sampling + self.noise**2)

    @property
    def together(self) -> int:
        """How many blocks are taken together for distances: as many as leave noise a part of `CLOSE` in them, about.

        The nearest slope of more blocks is nearer to the middle, so that less depends on the law of slopes.
        """
        return min(max(int(CLOSE / self.off(1)), 1), MOST_TOGETHER)

    def off(self, together: int) -> float:
        """The relative deviation that noise gives a median of nearest distances, for so many blocks together."""
        ranks = math.sqrt((self.columns + 1) * (self.columns + 2) / 3) / self.spread_steepness * together / self.blocks
        part = 0.5 ** (1 / together)
        steep = float(stdtrit(self._free, 1.005 - part / 2) - stdtrit(self._free, 0.995 - part / 2)) / 0.01
        return ranks * steep * part / together / self._nearest(together)

    def _nearest(self, together: int) -> float:
        """The median nearest distance of so many blocks by Student's law: P(one distance is greater)^together = 1/2."""
        return float(stdtrit(self._free, 1 - 0.5 ** (1 / together) / 2))

    def reach(self, distances: Array) -> Array:
        """Half the width for each slope, from median nearest distances; infinite if blocks are too few.

        They are too few if points that are far from all slopes, being so many more, may outweigh those in the middle.
        A relative error e of the distances costs z^2 e^2 / 2 of the width.
        """
        weight, far = self.steepness * self.blocks / 2, np.maximum(-np.log(distances), FEW).sum()
        if weight < far + SURE or self.share > 0.45:
            return np.full(self.columns, math.inf)
        normal, together = float(ndtri(0.5 + self.confidence / 2)), self.together
        widening = float(stdtrit(self._free, 0.5 + self.share)) / self._nearest(together)
        reach = distances * widening * (1 + (normal * self.off(together)) ** 2 / 2)
        return np.where(distances < FARTHEST / 2, reach, math.inf)
