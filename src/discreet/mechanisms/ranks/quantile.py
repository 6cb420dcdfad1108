"""One quantile by the exponential mechanism, on a grid of cells between public bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import Event, PureLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.ranks.rank_grid import RankGrid, Target
from discreet.mechanisms.ranks.ranked_stretches import RankedStretches
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.choice import StretchWeight, stretch_choice, uniform_below
from discreet.noise.interval import Uniform
from discreet.noise.stretch_race import UnevenStretches, stretch_race


@lru_cache(maxsize=256)
def price(epsilon: float) -> Event:
    """The event of a choice by the exponential mechanism; its many orders are computed once."""
    return Exponential(epsilon).event


@dataclass(frozen=True)
class Quantile(CheckedParameters):
    """Release a value below which a given share of a column lies.

    A cell y of the grid scores minus the number of ranks between q * n and those of y, from the number of values
    below y to the number of values at or below y. If q * n is among these, the score is positive: the number of
    ranks from q * n to the nearer end of them. P(y) is in proportion to exp(epsilon score / reach), with the reach
    of one row from 1 to 2 ranks. On up to 2^20 cells, values between two cells have ranks of their own; on more they
    are moved to the nearest.

    Parameters
    ----------
    epsilon : float
        Public.
    q : float
        Public. In [0, 1].
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other. Releases are on this grid.

    Guarantee
    ---------
    The event of `Exponential(epsilon)`. McSherry and Talwar 2007, Theorem 6; Cesar and Rogers 2021, Lemma 3.4; for the
    reach of one row, under both relations, see `quantile.md`.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> ages = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    >>> Quantile(2.0, 0.9, 0.0, 1000.0, 1000).release(ages, DeterministicBits(1))
    np.float64(900.0)
    """

    epsilon: float = 1.0
    q: float = 0.5
    lower: float = 0.0
    upper: float = 1024.0
    cells: int = 1024
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("Quantile", "epsilon", self.epsilon)
        RankGrid(self.lower, self.upper, self.cells)
        if not 0 <= self.q <= 1:
            raise ParameterError("Quantile", f"q is {self.q}", "Give a number in [0, 1].", q=self.q)

    @property
    def event(self) -> Event:
        return price(self.epsilon)

    def target(self, rows: int, neighbors: Neighbors) -> Target:
        return Target.priced(self.q, self.epsilon, rows, neighbors)

    def release(self, answer: Records, bits: Bits) -> Array:
        grid = RankGrid(self.lower, self.upper, self.cells)
        stretches = RankedStretches.of(grid, answer.values[:, 0], self.target(answer.rows, answer.neighbors))
        return grid.values(self.chosen(stretches, bits, math.prod(answer.copies)).reshape(answer.copies))[()]

    def chosen(self, stretches: RankedStretches, bits: Bits, copies: int) -> Steps:
        """One cell for each copy, drawn independently.

        A cell of a loose stretch is kept with probability exp(-(its own distance - that of the stretch) / scale), and
        otherwise all is drawn again: so the law is exact.
        """
        lengths, scale = stretches.lengths, stretches.target.scale
        won, again = np.empty(copies, np.int64), np.arange(copies)
        while again.size:
            stretch = stretch_choice(
                bits, lengths[None, :], stretches.distances[None, :], scale, np.zeros(again.size, np.int64)
            )
            won[again] = stretches.edges[stretch] + 1 + uniform_below(bits, lengths[stretch])
            loose = np.flatnonzero(stretches.loose[stretch])
            again = again[[i for i in loose if not _stays(bits, stretches, int(won[again[i]]), int(stretch[i]))]]
        return won

    def worst_neighbors(self) -> NeighborPair:
        """A low record joins a high one: the few cells below it fall from best to worst."""
        low = self.lower + math.floor(0.1 * self.cells) * (self.upper - self.lower) / self.cells
        first, second = np.array([[self.upper]]), np.array([[self.upper], [low]])
        return NeighborPair(Records(first, 1, Neighbors.ADD_REMOVE), Records(second, 1, Neighbors.ADD_REMOVE))


def _stays(bits: Bits, stretches: RankedStretches, cell: int, stretch: int) -> bool:
    """Whether a cell of a loose stretch is kept."""
    behind = stretches.distance(cell) - int(stretches.distances[stretch])
    return behind == 0 or StretchWeight(1, behind, stretches.target.scale).exceeds(Uniform(bits, bits.integer(64)))


@dataclass(frozen=True)
class FlippedQuantile(Quantile):
    """Release a value below which a given share of a column lies, never worse than `Quantile`.

    Cells have the scores that they have there. They are visited in random order, and one is taken with probability
    exp(-epsilon (best - score) / reach). On few cells that is up to twice as good as the exponential mechanism; on many
    cells both are the same except for their price, which composes worse here.

    Parameters
    ----------
    epsilon : float
        Public.
    q : float
        Public. In [0, 1].
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other. Releases are on this grid.

    Guarantee
    ---------
    `PureLoss(epsilon)`, and no more: its loss is not of bounded range. McKenna and Sheldon 2020, Theorem 1; for the
    reach of one row, under both relations, see `quantile.md`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.answer import Records
    >>> from discreet.core.neighbors import Neighbors
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> ages = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    >>> FlippedQuantile(2.0, 0.9, 0.0, 1000.0, 1000).release(ages, DeterministicBits(1))
    np.float64(902.0)
    """

    @property
    def event(self) -> Event:
        return PureLoss(self.epsilon)

    def chosen(self, stretches: RankedStretches, bits: Bits, copies: int) -> Steps:
        """One cell for each copy, each from a race of its own."""
        scale, loose = stretches.target.scale, UnevenStretches(stretches.loose, stretches.distance)
        return stretch_race(bits, stretches.lengths, stretches.distances, scale, copies, loose)
