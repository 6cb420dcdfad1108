"""Blocks that the records of a regression are dealt into, what they are asked, and the fit they make."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.mechanisms.stable.sample_and_aggregate import SampleAndAggregate
from discreet.questions.columns.total import count_of
from discreet.questions.question import AllRecords
from discreet.statistics.fits.block_slopes import BlockSlopes, Residuals, ScaledColumns
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData

COUNT, INTERCEPT = 0.03, 0.1  # what these get of the price
CELLS = 2**40
MOST_NOISE = 2.0**20  # records: what is laid out for them still fits into memory


@dataclass(frozen=True)
class ScaledFit:
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
    frame : ScaledColumns
        The columns.
    number : int or None
        Of blocks; as many as there are small ones for the records, where none is given.
    """

    data: PrivateData
    frame: ScaledColumns
    number: int | None

    @property
    def parts(self) -> tuple[Any, ...]:
        """What their number costs, at a price of 1 in all: nothing, where the number of records is public."""
        return () if self.data.public_size is not None else (Laplace(1 / COUNT),)

    def check(self, mechanisms: tuple[Any, ...]) -> None:
        """Refuse, before anything is charged, to lay out as many places as noise alone could ask for."""
        for count in mechanisms[: len(self.parts)]:
            if (noise := count.multiplier * self.data.unit.rows) > MOST_NOISE:
                obstacle = f"the number of records would have noise of scale {noise:.3g}"
                remedy = "Ask with a larger epsilon, for units of fewer rows, or where the number of records is public."
                raise ParameterError(f"robust regression of {self.frame.target}", obstacle, remedy)

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
    """A number of blocks, the number of records that each has room for, and a permit to ask them."""

    permit: Permit
    frame: ScaledColumns
    blocks: int
    size: int

    def asked(self, mechanism: SampleAndAggregate, of: BlockSlopes, deals: int = 1, together: int = 1) -> Any:
        """What a mechanism releases about the blocks, or about several of them together."""
        blocks, size = max(self.blocks // together, 1), self.size * together
        mechanism = dataclasses.replace(mechanism, blocks=blocks, size=size, deals=deals, of=of)
        return self.permit.ask(AllRecords(self.frame.names), mechanism)

    def residual(self, mechanism: SampleAndAggregate, slopes: tuple[float, ...], middle: float | None = None) -> float:
        """The median residual of single records; or, where a residual is given, the median distance from it."""
        most = 1.0 + float(np.abs(slopes).sum())
        ends = (-most, most) if middle is None else (0.0, 2 * most)
        shared, of = Quantile(mechanism.epsilon, 0.5, *ends, CELLS), Residuals(self.frame, slopes, middle)
        mechanism = SampleAndAggregate(mechanism.epsilon, shared, of, self.blocks * self.size)
        return float(self.permit.ask(AllRecords(self.frame.names), mechanism))
