"""Sample and aggregate: a mechanism releases from what a function makes of random blocks of rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.ranks.box_depth import BoxDepth
from discreet.noise.dealing import dealt_to_places
from discreet.questions.question import quiet

MOST = 2**40  # places in all blocks
DEEP = BoxDepth()


def first_rows(blocks: Array) -> Array:
    """The first row of each block."""
    return blocks[:, 0]


@dataclass(frozen=True)
class SampleAndAggregate(CheckedParameters):
    """Deal the rows into blocks, and let a mechanism release from one answer for each block.

    There is a public number of blocks with `size` places each. As many rows as possible get a place of their own, all
    ways to do so being equally likely; places may stay empty, and rows may be left over. Rows with a missing value are
    not dealt. To add, remove or replace a row changes one block of each deal, and no other. So the answers are records
    of which one unit replaces at most the number of its rows times the number of deals.

    Parameters
    ----------
    epsilon : float
        Public. The epsilon of the mechanism.
    mechanism : Mechanism
        Public. It takes records and has an epsilon.
    of : callable
        Public. Blocks in, shape (blocks, size, columns), with nan in empty places; one row for each block out, which
        depends on that block, and its number, alone. It must not fail for any values.
    blocks, size : int
        Public. How many blocks there are, and how many rows each has room for.
    deals : int
        Public. How often all rows are dealt again. More deals give more answers, of which one unit changes the same
        share: results depend less on which rows met in a block, and need no more noise.

    Guarantee
    ---------
    The event of the mechanism, under either relation: sample and aggregate of Nissim, Raskhodnikova and Smith 2007.
    `noise/dealing.md` shows that one block changes in each deal.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rows = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    >>> means = SampleAndAggregate(2.0, BoxDepth(), lambda blocks: np.nanmean(blocks, axis=1), blocks=100, size=10)
    >>> means.release(rows, DeterministicBits(1)).round()
    array([491.])
    """

    epsilon: float = 1.0
    mechanism: Any = DEEP
    of: Callable[[Array], Array] = first_rows
    blocks: int = 2
    size: int = 1
    deals: int = 1
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        for name in ("blocks", "size", "deals"):
            check_whole("SampleAndAggregate", name, getattr(self, name))
        check_whole("SampleAndAggregate", "number of places", self.blocks * self.size * self.deals, most=MOST)
        if getattr(self.mechanism, "calibrated", None) != "epsilon" or isinstance(self.mechanism, type):
            raise ParameterError(
                "SampleAndAggregate",
                f"{type(self.mechanism).__name__} has no epsilon",
                "Give a mechanism that has one.",
            )
        object.__setattr__(self, "mechanism", dataclasses.replace(self.mechanism, epsilon=self.epsilon))

    @property
    def event(self) -> Event:
        event: Event = self.mechanism.event
        return event

    def release(self, answer: Records, bits: Bits) -> Array:
        """What the mechanism releases; once for each copy, each with deals of its own."""
        rows = answer.values[~np.isnan(answer.values).any(axis=1)]
        copies = math.prod(answer.copies)
        dealt = np.stack([self._dealt(rows, copies, bits) for _ in range(self.deals)], axis=1)
        answers = dealt.reshape(copies, self.deals * self.blocks, dealt.shape[-1])
        alike, group = np.unique(answers, axis=0, return_inverse=True) if copies > 1 else (answers, np.zeros(1, int))
        released: list[Any] = [None] * copies
        for number, values in enumerate(alike):
            those = np.flatnonzero(group == number)
            found = Records(values, self.unit(answer), Neighbors.REPLACE, copies=(len(those),))
            for place, one in zip(those, self.mechanism.release(found, bits), strict=True):
                released[place] = one
        return np.asarray(released).reshape((*answer.copies, *np.shape(released[0])))[()]

    def unit(self, answer: Records) -> int:
        """How many answers one unit changes at most."""
        return answer.rows * self.deals

    def _dealt(self, rows: Array, copies: int, bits: Bits) -> Array:
        """One answer for each block of one deal, for each copy."""
        places = dealt_to_places(bits, len(rows), self.blocks, self.size, copies)
        padded = np.concatenate([rows, np.full((1, rows.shape[1]), np.nan)])
        blocks = padded[places].reshape(copies * self.blocks, self.size, rows.shape[1])
        with quiet():
            return self.of(blocks).reshape(copies, self.blocks, -1)

    def worst_neighbors(self) -> NeighborPair:
        """A row at one end of the grid is replaced by one at the other; the rest stay near the first end."""
        grid = self.mechanism
        low, inner, high = (np.array([grid.lower + part * (grid.upper - grid.lower)]) for part in (0.0, 0.1, 1.0))
        return NeighborPair(*(Records(np.stack([one, inner]), 1, Neighbors.REPLACE) for one in (low, high)))
