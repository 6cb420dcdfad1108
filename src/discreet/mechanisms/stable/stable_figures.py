"""Figures for propose-test-release: each knows how many rows must change before it could jump."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.core.answer import Records
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.ranks.rank_grid import OrderStatistic, RankGrid

NEVER = 2**40  # rows: the greatest distance that is computed


@dataclass(frozen=True)
class Measured:
    """A figure in whole steps, and its distance: the rows that can change before one could move it beyond its bound.

    One row changes the distance by at most one. Where it is 1 or more, one row moves the figure by at most the bound.
    """

    steps: int
    distance: int


class StableFigure(Protocol):
    """A figure, and the proposal that one row moves it by at most `bound` steps. It is a frozen dataclass."""

    @property
    def bound(self) -> int: ...

    def measured(self, answer: Records) -> Measured: ...

    def said(self, steps: Steps) -> Array:
        """The value of a number of steps."""
        ...


@dataclass(frozen=True)
class StableQuantile(CheckedParameters):
    """A quantile, and the proposal that one row moves it by at most `bound` steps of a grid.

    Parameters
    ----------
    q : float
        Public. The share of the values that are at or below the quantile.
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other.
    bound : int
        Public. How far one row may move it, in steps.

    Examples
    --------
    >>> StableQuantile().measured(Records(np.full((100, 1), 512.0), 1, Neighbors.ADD_REMOVE))
    Measured(steps=512, distance=49)
    """

    q: float = 0.5
    lower: float = 0.0
    upper: float = 1024.0
    cells: int = 1024
    bound: int = 8

    def __post_init__(self) -> None:
        RankGrid(self.lower, self.upper, self.cells)
        if not 0 <= self.q <= 1 or not 1 <= self.bound <= self.cells:
            raise ParameterError(
                "stable quantile",
                f"q is {self.q} and bound {self.bound}",
                "Give a level in [0, 1] and a bound from one step to all.",
            )

    def measured(self, answer: Records) -> Measured:
        """The quantile, and the fewest values inside a window around it that is wider than the bound."""
        cells = np.sort(RankGrid(self.lower, self.upper, self.cells).nearest(answer.values[:, 0]))
        found = OrderStatistic(cells, self.q, self.cells)
        return Measured(found.value, min(found.between(self.bound), NEVER))

    def said(self, steps: Steps) -> Array:
        """Values between the bounds."""
        return RankGrid(self.lower, self.upper, self.cells).values(np.clip(steps, 0, self.cells))


@dataclass(frozen=True)
class SpreadClass(CheckedParameters):
    """The class of the interquartile range on a geometric scale, and the proposal that one row does not change it.

    Class k holds the ranges from ratio**(k - 1 + offset) cells on to before ratio**(k + offset); class 0 those below.

    Parameters
    ----------
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other.
    ratio : float
        Public. Above 1: the beginning of each class over that of the one before.
    offset : float
        Public. In [0, 1): classes with offsets 0 and 1/2 have no end in common.

    Examples
    --------
    >>> ages = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    >>> SpreadClass(offset=0.5).measured(ages)
    Measured(steps=9, distance=273)
    """

    lower: float = 0.0
    upper: float = 1024.0
    cells: int = 1024
    ratio: float = 2.0
    offset: float = 0.0

    bound = 0

    def __post_init__(self) -> None:
        RankGrid(self.lower, self.upper, self.cells)
        if not 1 + 2.0**-10 <= self.ratio <= 2.0**10 or not 0 <= self.offset < 1:
            raise ParameterError(
                "classes of spread",
                f"ratio is {self.ratio} and offset {self.offset}",
                "Give a ratio from 1.001 to 1000, and an offset in [0, 1).",
            )

    @property
    def ends(self) -> Steps:
        """Where the classes begin, in cells; no range reaches the last."""
        most = math.ceil(math.log(self.cells + 1) / math.log(self.ratio)) + 1
        beginnings = self.ratio ** (np.arange(most + 1) + self.offset)
        return np.concatenate([[0], np.ceil(np.minimum(beginnings, self.cells + 1)).astype(np.int64)])

    def measured(self, answer: Records) -> Measured:
        """The class, and one less than the rows that must change before the range leaves it."""
        cells = np.sort(RankGrid(self.lower, self.upper, self.cells).nearest(answer.values[:, 0]))
        low, high = (OrderStatistic(cells, share, self.cells).value for share in (0.25, 0.75))
        ends = self.ends
        place = int(np.searchsorted(ends, high - low, side="right")) - 1
        moves = _Moves(np.concatenate([[0], cells, [self.cells]]), answer.neighbors)
        rows = min(moves.to_widen(int(ends[place + 1])), moves.to_narrow(int(ends[place])))
        return Measured(place, max(rows - 1, 0))

    def said(self, steps: Steps) -> Array:
        """The geometric middle of each class, in whole cells; zero for the lowest class."""
        middle = np.rint(np.minimum(self.ratio ** (steps - 0.5 + self.offset), self.cells))
        return np.where(steps > 0, middle * ((self.upper - self.lower) / self.cells), 0.0)


@dataclass(frozen=True)
class _Moves:
    """How many rows must change before the quartiles are a given distance apart, or closer than that.

    A row moves one quartile by at most 3/4 of a rank and both together by 1/2 (add/remove), or each, and both together,
    by one rank (replace): `propose_test_release.md`.

    Parameters
    ----------
    padded : array of int64
        The sorted values, between the least and the greatest that there can be.
    neighbors : Neighbors
        What changing a row means.
    """

    padded: Steps
    neighbors: Neighbors

    def to_widen(self, apart: int) -> int:
        """Before the range is at least this."""
        if apart > self.padded[-1]:
            return NEVER
        low = np.arange(len(self.padded))
        high = np.searchsorted(self.padded, self.padded + apart)
        reached = high < len(self.padded)
        return self._least(self._number - 4 * low[reached], 4 * high[reached] - 3 * self._number)

    def to_narrow(self, apart: int) -> int:
        """Before the range is less than this."""
        inner = self.padded[1:-1]
        if apart <= 0:
            return NEVER
        if not len(inner):
            return 0
        low = np.arange(1, len(inner) + 1)
        high = np.searchsorted(inner, inner + (apart - 1), side="right")
        return self._least(4 * low - self._number, 3 * self._number - 4 * high)

    @property
    def _number(self) -> int:
        return len(self.padded) - 2

    def _least(self, first: Steps, second: Steps) -> int:
        """From how far each quartile has to move, in quarters of a rank."""
        both, single = first + second, np.maximum(first, second)
        if self.neighbors is Neighbors.ADD_REMOVE:
            return max(0, -(-int(np.maximum(3 * both, 2 * single).min()) // 6) - 2)
        return max(0, -(-int(np.maximum(both, single).min()) // 4) - 1)
